# shellcheck shell=sh
# What the hooks in this folder share: reading what Belfry says and showing it on the desktop. To be
# sourced, after `set -uf`; it does nothing by itself.

newline='
'

# The JSON is read to its end and dropped, so that Belfry's write of it cannot fail.
# A terminal has no end to wait for: that is someone who tries the hook by hand.
drop_input() {
    [ -t 0 ] || cat >/dev/null 2>&1
}

# Says why nobody was reached, which Belfry tells the person, and gives up.
fail() {
    printf '%s\n' "$1" >&2
    exit 1
}

# Titles and notes come from every device that syncs, and not every service takes control characters
# for harmless. Only newline and tab stay; the other C0 controls, DEL and the C1 controls (two bytes
# each in UTF-8) go. The loop is for those that a removal puts together.
c1=$(printf '\302[\200-\237]')
plain() {
    printf '%s' "$1" | LC_ALL=C tr -d '\000-\010\013-\037\177' |
        LC_ALL=C sed -e ':again' -e "s/$c1//g" -e 't again'
}
plain_line() {
    plain "$1" | tr '\n\t' '  '
}

# A body is markup by the notification specification, and notify-send decodes backslashes in it
# first; a summary is neither. What was typed has to come out as typed from both.
markup() {
    printf '%s' "$1" |
        LC_ALL=C sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g' -e 's/\\/\\\\/g'
}

# Leaves what is to be shown in $headline, or $1 if there is none, and in $body.
read_text() {
    headline=$(plain_line "${BELFRY_HEADLINE:-${BELFRY_TITLE:-}}")
    [ -n "$headline" ] || headline=$1
    body=$(plain "${BELFRY_BODY:-}")
}

# The command that answers, for where there are no buttons.
how_to_answer() {
    # As much of the alarm's identifier as a person would type.
    id=$(printf '%s' "${BELFRY_ALARM:-}" | LC_ALL=C tr -cd 'a-z0-9' | cut -c 1-8)
    first='' others=''
    for word in ${BELFRY_ACTIONS:-}; do
        case $word in
        stop | 'done' | snooze | skip) ;;
        remind) word='wait' ;; # no command: it asks again by itself
        *) continue ;;
        esac
        if [ -z "$first" ]; then first=$word; else others=${others:+$others, }$word; fi
    done
    [ -z "$id" ] || [ -z "$first" ] ||
        printf 'To answer: belfry %s %s%s' "$first" "$id" "${others:+   (or: $others)}"
}

# Makes sure that a notification could be sent, or fails.
find_desktop() {
    command -v notify-send >/dev/null ||
        fail 'notify-send is not installed. Install libnotify-bin.'

    # cron and system timers start without the address of the session's bus, but its socket has a
    # fixed place. An address that is set is taken at its word, even if it leads nowhere.
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
    fail 'no notification service answers. Start one, such as dunst.'
}

# Runs a command no longer than $1 seconds: a bus may be there and not answer, while the alarm is
# due. In the foreground it stays in the hook's process group, which is what Belfry ends.
bounded() {
    timeout --foreground -k 1 "$@"
}

# Calls org.freedesktop.$1.$2, with the string $3 if there is one, and prints the strings of the
# answer, a line each. Fails with 127 when there is nothing to call it with, and with 124 when no
# answer came in time.
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
    # All three put strings, and only those, in quotes of one kind or the other.
    printf '%s\n' "$answer" | grep -oE "\"[^\"]*\"|'[^']*'" | sed -e 's/^.//' -e 's/.$//'
}

# Shows $1 with the body $2, and whatever further options there are, and leaves it there.
show() {
    summary=$1 text=$(markup "$2")
    shift 2
    # It fails when nothing owns the service and nothing can be started to own it.
    bounded 5 notify-send --app-name=Belfry --icon=appointment-soon "$@" -- "$summary" "$text" \
        >/dev/null 2>&1
}

# Whether the service takes actions but draws no buttons: it waits for a middle click, a key or a menu.
hides_actions() {
    case $(ask Notifications GetServerInformation | sed -n 1p) in
    dunst | mako | fnott) return 0 ;;
    *) return 1 ;;
    esac
}

# Shows $headline and $body with a button for each of $BELFRY_ACTIONS, and stays until it is gone.
# Prints `delivered` once it is there, unless $delivered says that it has been, and the answer.
# 0: answered, 1: not shown, 2: gone without an answer, 3: shown, but it cannot be followed.
#
# SIGTERM to the process group withdraws the notification. It comes from one process only: the
# service answers the connection that asked, so notify-send has to stay, and only on SIGINT does it
# take back what it has shown; SIGTERM would end it and leave the notification on the screen.
offer() {
    text=$body how=$(how_to_answer)
    # notify-send leaves out the buttons that a service does not have. Then the words have to do,
    # and where it is not known, both.
    if [ -n "$how" ]; then
        ask Notifications GetCapabilities | grep -qx actions && ! hides_actions ||
            text=$text${text:+$newline}$how
    fi

    # Before 0.8 notify-send can neither wait nor be told to withdraw.
    if ! notify-send --help 2>/dev/null | grep -q -e --action; then
        text=$body${how:+${body:+$newline}$how}
        show "$headline" "$text" --urgency=critical || return 1
        return 3
    fi

    # A click on the notification itself gives the answer that settles nothing, where there is one.
    case " ${BELFRY_ACTIONS:-} " in
    *' snooze '*) click=snooze ;;
    *' remind '*) click=remind ;;
    *) click='' ;;
    esac
    set --
    for word in ${BELFRY_ACTIONS:-}; do
        case $word in
        stop) label=Stop ;;
        # On what a partner has set: they hear of it.
        'done') label=${BELFRY_PARTNER:+❤️ Got it} label=${label:-Done} ;;
        snooze) label=$(plain_line "Snooze${BELFRY_SNOOZE:+ $BELFRY_SNOOZE}") ;;
        skip) label=Skip ;;
        remind) label='Remind Me' ;;
        *) continue ;;
        esac
        set -- "$@" --action="$word=$label"
        [ "$word" != "$click" ] || set -- "$@" --action="default=$label"
    done
    # Shells say it on standard error when a command was killed.
    {
        keep "$@" --urgency=critical --app-name=Belfry --icon=appointment-soon \
            -- "$headline" "$(markup "$text")" | attend &
        # Not earlier: the two would start with this trap, and lose a signal until they drop it.
        trap end TERM
        wait "$!"
        result=$?
        trap - TERM
    } 2>/dev/null
    return "$result"
}

# Ends the group, of which each process knows what to do, and stays until it has done it. A hook that
# leads no group (someone's script runs it) has none of that number, and only ends itself.
end() {
    trap '' TERM
    kill -s TERM -- "-$$" && wait
    exit 143
}

# Prints the process id of a notify-send and then what it prints: the notification's number (which
# it would keep in a buffer until the end, but for stdbuf) and the button.
keep() {
    trap 'withdraw "${!-}"' TERM
    # Behind a & it ignores SIGINT as well, until it has shown the notification and listens for it.
    # shellcheck disable=SC2016 # $$ and $@ are for the inner shell
    (
        trap '' TERM
        exec sh -c 'echo $$; exec stdbuf -oL notify-send "$@"' sh --wait --print-id "$@"
    ) &
    wait "$!"
}

# Withdraws the notification of the process $1, in less than the two seconds until Belfry's SIGKILL.
withdraw() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [ -n "$1" ] && kill -s INT "$1" || exit
        sleep 0.1
    done
    kill -s KILL "$1"
    exit
}

# Reads what `keep` prints. A shell's read takes no byte more than its line.
attend() {
    # shellcheck disable=SC2016 # $line is for the inner shell
    read_line='read -r line && echo "$line"'
    read -r sender || return 1
    # Where nobody took it, the number is 0, and it waits all the same. It may not come up later,
    # when the terminals have been written to. Not SIGINT: there is nothing to withdraw.
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
            printf '%s\n' "$button" && return 0
            ;;
        124) ;;
        *) return 2 ;;
        esac

        # A service that ends takes its notifications along, and notify-send does not notice.
        now=$(ask DBus GetNameOwner org.freedesktop.Notifications)
        case $? in
        124 | 127) continue ;; # that says nothing
        esac
        owner=${owner:-$now}
        if [ "$now" != "$owner" ]; then
            # Not SIGINT: the number may be another notification's by now.
            kill -s KILL "$sender"
            return 2
        fi
    done
}
