# shellcheck shell=sh
# What the hooks in this folder share: ways to reach the person whose alarm it is. To be sourced,
# after `set -u`; it does nothing by itself.

uid=$(id -u)

# Why the desktop was not reached, and what the person can do about it.
why='' fix=''

# The JSON is read to its end and dropped, so that Belfry's write of it cannot fail.
# A terminal has no end to wait for: that is someone who tries the hook by hand.
drop_input() {
    [ -t 0 ] || cat >/dev/null 2>&1
}

# Titles and notes come from every device that syncs, and an escape sequence in one could clear
# a terminal or type into it. Only newline and tab stay; the other C0 controls, DEL and the C1
# controls (two bytes each in UTF-8) go. The loop is for those that a removal puts together.
c1=$(printf '\302[\200-\237]')
plain() {
    printf '%s' "$1" | LC_ALL=C tr -d '\000-\010\013-\037\177' |
        LC_ALL=C sed -e ':again' -e "s/$c1//g" -e 't again'
}

# As much of the alarm's identifier as a person would type.
short_id() {
    printf '%s' "${BELFRY_ALARM:-}" | LC_ALL=C tr -cd 'a-z0-9' | cut -c 1-8
}

# Whether a notification can be sent at all; leaves the bus for it in $bus.
find_desktop() {
    if ! command -v notify-send >/dev/null; then
        why='notify-send is not installed' fix='Install libnotify-bin'
        return 1
    fi

    # cron and system timers start without the address of the session's bus, but its socket has a
    # fixed place. An address that is set is taken at its word, even if it leads nowhere.
    bus=${DBUS_SESSION_BUS_ADDRESS:-}
    if [ -z "$bus" ]; then
        for folder in "${XDG_RUNTIME_DIR:-/run/user/$uid}" "/run/user/$uid"; do
            if [ -S "$folder/bus" ]; then
                bus=unix:path=$folder/bus
                break
            fi
        done
    fi
    if [ -z "$bus" ]; then
        why='there is no session bus' fix='Start a desktop session'
        return 1
    fi
}

no_service() {
    why='no notification service answers' fix='Start one, such as dunst'
    return 1
}

# Calls a method of the notification service and prints the strings of its answer, a line each.
# Fails with 127 when there is nothing to call it with. Needs find_desktop.
ask_service() {
    service=org.freedesktop.Notifications
    object=/org/freedesktop/Notifications
    if command -v gdbus >/dev/null; then
        set -- gdbus call --session --dest "$service" --object-path "$object" --method "$service.$1"
    elif command -v busctl >/dev/null; then
        set -- busctl --user call "$service" "$object" "$service" "$1"
    elif command -v dbus-send >/dev/null; then
        set -- dbus-send --session --print-reply --dest="$service" "$object" "$service.$1"
    else
        return 127
    fi
    answer=$(DBUS_SESSION_BUS_ADDRESS=$bus timeout -k 1 5 "$@" 2>/dev/null) || return 1
    # All three put strings, and only those, in quotes of one kind or the other.
    printf '%s\n' "$answer" | grep -oE "\"[^\"]*\"|'[^']*'" | sed -e 's/^.//' -e 's/.$//'
}

# A body is markup by the notification specification, and notify-send decodes backslashes in it
# first; a summary is neither. What was typed has to come out as typed from both.
markup() {
    printf '%s' "$1" |
        LC_ALL=C sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g' -e 's/\\/\\\\/g'
}

# Shows a title and a body that stay until they are seen.
desktop() {
    find_desktop || return 1
    # notify-send fails when nothing owns the service and nothing can be started to own it. But it
    # would wait for a bus that is there and does not answer, while the alarm is due.
    DBUS_SESSION_BUS_ADDRESS=$bus timeout -k 1 5 notify-send --urgency=critical \
        --app-name=Belfry --icon=appointment-soon -- "$1" "$(markup "$2")" >/dev/null 2>&1 ||
        no_service
}

# Of the names of terminals that it reads, those that are there and this user's.
own() {
    while read -r tty; do
        [ -z "$(find "$tty" -prune -type c -user "$uid" 2>/dev/null)" ] || printf '%s\n' "$tty"
    done
}

# Reads names of terminals, rings those that are this user's, and prints a mark for each that took
# it. Each write is on its own and bounded: a terminal stopped with Ctrl-S would hold it for ever.
# A background job may write even under `stty tostop`. Whether `mesg` is off is not asked: that is
# for what other people write, and a line in the wrong place is better than a missed alarm.
ring() {
    own | {
        while read -r tty; do
            # shellcheck disable=SC2016 # $1 is for the inner shell
            (printf '%s\n' "$screen" | timeout -k 1 2 sh -c 'trap "" TTOU; exec cat >"$1"' sh "$tty" &&
                printf x) 2>/dev/null &
        done
        wait
    }
}

# Logins first: a pseudo-terminal that is nobody's login may be a program's that reads what
# appears on it. A console with a display in brackets is behind a desktop, where nobody sees it.
logins() {
    who 2>/dev/null | awk '!($2 ~ /^tty[0-9]/ && /\)$/) && !seen[$2]++ { print "/dev/" $2 }'
}
others() {
    printf '%s\n' /dev/pts/[0-9]*
}

# Shows a title, a body and, unless it is empty, the command that answers them.
terminals() {
    screen=$(
        printf '\a\n** %s\n' "$1"
        printf '%s\n' "$2" ${3:+"$3"} | sed 's/^/   /'
    )
    # A full-screen program may have turned off the terminal's own carriage returns.
    screen=$(printf '%s\n' "$screen" | sed "s/\$/$(printf '\r')/")

    [ -n "$(logins | ring)" ] || [ -n "$(others | ring)" ]
}

# How many terminals that would be shown on. Whether each would take it, only a write could tell.
open_terminals() {
    open=$(logins | own)
    [ -n "$open" ] || open=$(others | own)
    printf '%s' "$open" | grep -c ''
}

# Says what has not come to pass and what is wrong with the terminals, and gives up.
fail() {
    printf 'belfry: %s: %s, and no terminal of yours %s. %s, or log in on a terminal.\n' \
        "$1" "$why" "$2" "$fix" >&2
    exit 1
}
