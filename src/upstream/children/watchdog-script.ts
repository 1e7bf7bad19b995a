/**
 * The watchdog, for any POSIX shell. Its argument is the start of the cookie entry of this hub's children.
 * Lines on stdin: `+GROUP` registers, `-GROUP` releases, `.` ends the watchdog if no group is registered.
 * An incomplete line is ignored, because its number may be cut off.
 *
 * At EOF the hub is dead. Its children have had EOF too and get a moment, then SIGTERM, then SIGKILL. Processes
 * that left their group are found by their cookie. This takes about two seconds.
 */
export const watchdogScript = `# Quartermaster's watchdog: ends the hub's children when the hub is gone
trap '' HUP INT QUIT TERM PIPE ALRM USR1 USR2 TSTP TTIN TTOU
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
cd /
mark=$1
groups=' '

while read -r line; do
  group=\${line#?}
  case $line in
    +*) case $groups in *" $group "*) ;; *) groups="$groups$group " ;; esac ;;
    -*) case $groups in *" $group "*) groups=\${groups%%" $group "*}' '\${groups#*" $group "} ;; esac ;;
    .) [ "$groups" = ' ' ] && exit 0 ;;
  esac
done

# The first form is what dash wants, the second is for shells that do not know -s.
send() { kill -s "$1" -- "$2" 2>/dev/null || kill "-$1" "$2" 2>/dev/null; }
send_all() { for group in $groups; do send "$1" "-$group"; done; }
pause() { sleep 0.2 2>/dev/null || sleep 1; }

any_left() {
  left=' '
  for group in $groups; do send 0 "-$group" && left="$left$group "; done
  groups=$left
  [ "$groups" != ' ' ]
}

wait_for_groups() {
  ticks=$1
  while any_left && [ "$ticks" -gt 0 ]; do pause; ticks=$((ticks - 1)); done
}

wait_for_groups 1
send_all TERM
wait_for_groups 4
send_all KILL

[ -r /proc/self/environ ] || exit 0

# Not every grep knows -z; without it one process at a time is read, which is slower.
if printf 'a\\0b' | grep -qz '^b' 2>/dev/null; then
  marked() { grep -lsz "^$mark" /proc/[0-9]*/environ 2>/dev/null; }
else
  marked() {
    for entry in /proc/[0-9]*/environ; do
      [ -O "$entry" ] && tr '\\0' '\\n' 2>/dev/null <"$entry" | grep -q "^$mark" && echo "$entry"
    done
  }
fi

# Twice nothing: a process may be seen between its fork and its exec, when it does not show its cookie yet.
rounds=10
quiet=0
while [ "$rounds" -gt 0 ] && [ "$quiet" -lt 2 ]; do
  quiet=$((quiet + 1))
  for entry in $(marked); do
    folder=\${entry%/environ}
    [ -O "$folder" ] && send KILL "\${folder#/proc/}" && quiet=0
  done
  rounds=$((rounds - 1))
  [ "$quiet" -lt 2 ] && pause
done
exit 0
`;
