# shellcheck shell=sh
# Functions that the hooks in this folder share: reading the input and showing notifications on the
# desktop. Source this file after `set -uf`. It runs nothing itself.

# If the daemon that reads the output of a hook dies, the hook continues.
trap '' PIPE

newline='
'

# Reads the JSON document to its end and drops it, so that Belfry's write cannot fail. A terminal is not
# read, because a user who runs the hook by hand does not end the input.
drop_input() {
    [ -t 0 ] || cat >/dev/null 2>&1
}

# Prints $1, the reason for the failure, which Belfry reports to the user, and exits.
fail() {
    printf '%s\n' "$1" >&2
    exit 1
}

# Prints $1 without control characters other than newline and tab: C0 controls, DEL and C1 controls
# (two bytes each in UTF-8). Titles and notes come from other devices, and some notification services
# interpret control characters. The loop repeats because a removal can form a new sequence.
c1=$(printf '\302[\200-\237]')
plain() {
    printf '%s' "$1" | LC_ALL=C tr -d '\000-\010\013-\037\177' |
        LC_ALL=C sed -e ':again' -e "s/$c1//g" -e 't again'
}
plain_line() {
    plain "$1" | tr '\n\t' '  '
}

# Prints a line of a curl configuration, with the value in quotation marks.
setting() {
    printf '%s = "%s"\n' "$1" "$(printf '%s' "$2" | LC_ALL=C sed -e 's/[\\"]/\\&/g')"
}

# Prints $1 escaped for the body of a notification. The specification defines a body as markup, and
# notify-send also decodes backslashes in it. Neither applies to a summary.
markup() {
    printf '%s' "$1" |
        LC_ALL=C sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g' -e 's/\\/\\\\/g'
}

# Sets $headline, with the default $1, and $body to the text of the notification.
read_text() {
    headline=$(plain_line "${BELFRY_HEADLINE:-${BELFRY_TITLE:-}}")
    [ -n "$headline" ] || headline=$1
    body=$(plain "${BELFRY_BODY:-}")
}

# Prints the commands that answer the notification, for notifications without buttons.
how_to_answer() {
    # The short form of the alarm's identifier.
    id=$(printf '%s' "${BELFRY_ALARM:-}" | LC_ALL=C tr -cd 'a-z0-9' | cut -c 1-8)
    first='' others=''
    for word in ${BELFRY_ACTIONS:-}; do
        case $word in
        stop | 'done' | snooze | skip) ;;
        remind) word='wait' ;; # no command, because the next follow-up comes anyway
        *) continue ;;
        esac
        if [ -z "$first" ]; then first=$word; else others=${others:+$others, }$word; fi
    done
    [ -z "$id" ] || [ -z "$first" ] ||
        printf 'To answer: belfry %s %s%s' "$first" "$id" "${others:+   (or: $others)}"
}

# Exports the address of the session bus. Fails if notifications cannot be sent.
find_desktop() {
    command -v notify-send >/dev/null ||
        fail 'notify-send is not installed. Install libnotify-bin.'

    # cron and system timers do not set the address of the session bus, but its socket has a fixed
    # path. An address in the environment is used unchanged, even if nothing answers there.
    if [ -z "${DBUS_SESSION_BUS_ADDRESS:-}" ]; then
        uid=$(id -u)
        for folder in "${XDG_RUNTIME_DIR:-/run/user/$uid}" "/run/user/$uid"; do
            if [ -S "$folder/bus" ]; then
                DBUS_SESSION_BUS_ADDRESS=unix:path=$folder/bus
                break
            fi
        done
    fi
    [ -n "${DBUS_SESSION_BUS_ADDRESS:-}" ] || fail 'no session bus. Start a desktop session.'
    export DBUS_SESSION_BUS_ADDRESS
}

no_service() {
    fail 'no notification service responds. Start one, such as dunst.'
}

# Runs a command with a timeout of $1 seconds, because a bus may exist and not respond. --foreground keeps
# the command in the hook's process group, which Belfry signals.
bounded() {
    timeout --foreground -k 1 "$@"
}

# Calls org.freedesktop.$1.$2, with the optional string argument $3, and prints the strings of the
# reply, one per line. Fails with 127 if no D-Bus client is installed, and with 124 on a timeout.
ask() {
    service=org.freedesktop.$1 object=/org/freedesktop/$1
    if command -v gdbus >/dev/null; then
        set -- gdbus call --session --dest "$service" --object-path "$object" \
            --method "$service.$2" ${3:+"$3"}
    elif command -v busctl >/dev/null; then
        set -- busctl --user call "$service" "$object" "$service" "$2" ${3:+s "$3"}
    elif command -v dbus-send >/dev/null; then
        set -- dbus-send --session --print-reply --dest="$service" "$object" "$service.$2" \
            ${3:+"string:$3"}
    else
        return 127
    fi
    answer=$(bounded 5 "$@" 2>/dev/null) || return
    # All three clients quote strings, and only strings, in single or double quotes.
    printf '%s\n' "$answer" | grep -oE "\"[^\"]*\"|'[^']*'" | sed -e 's/^.//' -e 's/.$//'
}

# Shows a notification with the summary $1 and the body $2. Further arguments are options of notify-send.
show() {
    summary=$1 text=$(markup "$2")
    shift 2
    # notify-send fails if no notification service runs and none can be started.
    bounded 5 notify-send --app-name=Belfry --icon=appointment-soon "$@" -- "$summary" "$text" \
        >/dev/null 2>&1
}

# Succeeds if the service supports actions but shows no buttons, only a middle click, a key or a menu.
hides_actions() {
    case $(ask Notifications GetServerInformation | sed -n 1p) in
    dunst | mako | fnott) return 0 ;;
    *) return 1 ;;
    esac
}

# Sets $terminal to the command that runs another command in a new terminal window, as words separated by
# spaces. Fails without a graphical session or a known terminal emulator.
find_terminal() {
    [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && [ -n "${BELFRY_COMMAND:-}" ] || return 1
    for terminal in ${TERMINAL:+"$TERMINAL -e"} xdg-terminal-exec 'x-terminal-emulator -e' \
        'gnome-terminal --' 'ptyxis --' 'konsole -e' 'xfce4-terminal -x' foot 'alacritty -e' kitty \
        'wezterm start --' 'xterm -e'; do
        ! command -v "${terminal%% *}" >/dev/null || return 0
    done
    return 1
}

# Runs belfry with the arguments and the alarm in a new terminal window, and waits for up to half a minute, because the
# user answers there. Belfry ends this hook after the answer.
#
# The window has a session of its own, so that the end of this hook does not close it. Some emulators hand the command to
# a running server, which has another environment, and exit.
open_window() {
    (
        IFS=' '
        # shellcheck disable=SC2086 # words separated by spaces
        exec setsid $terminal "$BELFRY_COMMAND" "$@" ${BELFRY_STORE:+"--store=$BELFRY_STORE"} \
            ${BELFRY_ALARM:+"$BELFRY_ALARM"}
    ) </dev/null >/dev/null 2>&1 &
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        sleep 1
        kill -s 0 "$!" && continue
        wait "$!" || return
        break
    done
    sleep 20
}

# Shows $headline and $body with a button for each of $BELFRY_ACTIONS, and waits until the
# notification is closed. Prints `delivered` once it is shown, unless $delivered is set, and then the
# answer. Returns 0: answered, 1: not shown, 2: closed without an answer, 3: shown, but not tracked.
#
# SIGTERM to the process group withdraws the notification. The service reports the button only to the
# connection that sent the notification, so notify-send must keep running. It withdraws the
# notification only on SIGINT. SIGTERM would end it and leave the notification on the screen.
offer() {
    text=$body how=$(how_to_answer)
    # notify-send omits buttons that the service does not support. The body then contains the commands,
    # also if the support is unknown.
    if [ -n "$how" ]; then
        ask Notifications GetCapabilities | grep -qx actions && ! hides_actions ||
            text=$text${text:+$newline}$how
    fi

    # Before version 0.8, notify-send can neither wait nor withdraw.
    if ! notify-send --help 2>/dev/null | grep -q -e --action; then
        text=$body${how:+${body:+$newline}$how}
        show "$headline" "$text" --urgency=critical || return 1
        return 3
    fi

    # A click on the notification itself answers nothing that would end the occurrence. The screen shows ringing alarms
    # only, so that a follow-up is postponed instead.
    click=''
    case " ${BELFRY_ACTIONS:-} " in
    *' remind '*) click=remind ;;
    *) ! find_terminal || click=open ;;
    esac
    set --
    [ "$click" != open ] || set -- --action=default=Open
    for word in ${BELFRY_ACTIONS:-}; do
        case $word in
        stop) label=Stop ;;
        # Done on a partner's alarm sends the partner a receipt.
        'done') label=${BELFRY_PARTNER:+❤️ Got it} label=${label:-Done} ;;
        snooze) label=$(plain_line "Snooze${BELFRY_SNOOZE:+ $BELFRY_SNOOZE}") ;;
        skip) label=Skip ;;
        remind) label='Remind Me' ;;
        *) continue ;;
        esac
        set -- "$@" --action="$word=$label"
        [ "$word" != "$click" ] || set -- "$@" --action="default=$label"
    done
    # A reply to a partner needs a terminal. It is no answer, so the notification returns.
    [ -z "${BELFRY_PARTNER:-}" ] || ! find_terminal || set -- "$@" --action='reply=Reply'
    # Standard error is dropped, because shells report killed commands there.
    {
        keep "$@" --urgency=critical --app-name=Belfry --icon=appointment-soon \
            -- "$headline" "$(markup "$text")" | attend &
        # Set after the start of the pipeline. Its processes would otherwise inherit the trap and lose a
        # signal before they reset it.
        trap end TERM
        wait "$!"
        result=$?
        trap - TERM
    } 2>/dev/null
    return "$result"
}

# Forwards SIGTERM to the process group and waits until its processes have cleaned up. A hook that does
# not lead a group, for example because a script runs it, only exits.
end() {
    trap '' TERM
    kill -s TERM -- "-$$" && wait
    exit 143
}

# Prints the process ID of notify-send and then its output: the notification's ID and the button.
# stdbuf makes notify-send print the ID at once.
keep() {
    trap 'withdraw "${!-}"' TERM
    # As a background process, notify-send ignores SIGINT until it has shown the notification and installs a handler.
    # shellcheck disable=SC2016 # $$ and $@ are for the inner shell
    (
        trap '' TERM
        exec sh -c 'echo $$; exec stdbuf -oL notify-send "$@"' sh --wait --print-id "$@"
    ) &
    wait "$!"
}

# Withdraws the notification of the notify-send process $1, within the two seconds before Belfry sends
# SIGKILL.
withdraw() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [ -n "$1" ] && kill -s INT "$1" || exit
        sleep 0.1
    done
    kill -s KILL "$1"
    exit
}

# Reads the output of `keep`. The `read` of a shell consumes no byte beyond its line.
attend() {
    # shellcheck disable=SC2016 # $line is for the inner shell
    read_line='read -r line && echo "$line"'
    read -r sender || return 1
    # The ID is 0 if no service accepted the notification, and notify-send still waits. Kill it, so that the
    # notification does not appear after Belfry has used the terminals instead.
    number=$(bounded 5 sh -c "$read_line")
    if [ "${number:-0}" = 0 ]; then
        kill -s KILL "$sender"
        return 1
    fi
    owner=$(ask DBus GetNameOwner org.freedesktop.Notifications)
    [ -n "$delivered" ] || echo delivered

    while :; do
        button=$(bounded 5 sh -c "$read_line")
        case $? in
        0)
            [ "$button" != default ] || button=$click
            case $button in
            open) set -- ring ;;
            reply) set -- partner reply ;;
            *) set -- ;;
            esac
            if [ $# -gt 0 ]; then
                open_window "$@"
                return 2
            fi
            printf '%s\n' "$button" && return 0
            ;;
        124) ;;
        *) return 2 ;;
        esac

        # When a service exits, its notifications disappear, and notify-send does not notice.
        now=$(ask DBus GetNameOwner org.freedesktop.Notifications)
        case $? in
        124 | 127) continue ;; # the owner is unknown
        esac
        owner=${owner:-$now}
        if [ "$now" != "$owner" ]; then
            # SIGKILL instead of SIGINT, because another notification may have this ID by now.
            kill -s KILL "$sender"
            return 2
        fi
    done
}
