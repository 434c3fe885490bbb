import Files

/// The script that reports the commit of a branch from the host of an ssh remote.
///
/// It needs only a POSIX shell, and ends when its standard input does. bash waits with a timed `read`, so that it starts
/// no other processes. Its output has these lines, of which `RemoteWatchLine` is the parser:
///
/// | line | meaning |
/// |---|---|
/// | `belfry-watch 1` | The script runs. It is the first line. |
/// | `unavailable` | There is no repository whose references are plain files. The script ends. |
/// | `head COMMIT` | The commit of the branch, at the start and after each change; `-` if it has none. |
/// | `alive` | Nothing has changed in the last minutes. |
struct RemoteWatchScript {
  /// The path of the repository as git would pass it to the host.
  let path: String
  /// The name of the branch.
  let branch: String

  /// The time between two checks of the branch, in seconds.
  private static let interval = "0.3"
  /// The number of checks without a change after which the script reports that it is alive: five minutes.
  private static let quietChecks = 1000

  /// The text for the standard input of `sh`. The path and the branch occur in it only as quoted words.
  var text: String {
    let arguments = [path, branch].map(ShellWord.quoted).joined(separator: " ")
    return """
      watch=\(ShellWord.quoted(RemoteWatchScript.program))
      if command -v bash >/dev/null 2>&1; then exec bash -c "$watch" sh \(arguments); fi
      exec sh -c "$watch" sh \(arguments)

      """
  }

  /// The program, whose arguments are the path and the branch. It finds the repository as git does.
  static let program = """
    echo 'belfry-watch 1'
    path=$1 reference=refs/heads/$2
    case $path in
    \\~ | \\~/*) path=$HOME${path#?} ;;
    \\~*)
      user=${path%%/*} home=
      case ${user#?} in *[!A-Za-z0-9._-]*) echo unavailable; exit 0 ;; esac
      eval "home=$user"
      path=$home${path#"$user"}
      ;;
    esac
    folder=
    for end in /.git '' .git/.git .git; do
      if [ -f "$path$end/HEAD" ] && [ -d "$path$end/objects" ]; then
        folder=$path$end
        break
      fi
    done
    if [ -z "$folder" ] || [ -e "$folder/reftable" ] || [ -e "$folder/commondir" ]; then
      echo unavailable
      exit 0
    fi
    find_head() {
      id=
      { read -r id <"$folder/$reference"; } 2>/dev/null
      if [ -z "$id" ] && [ -r "$folder/packed-refs" ]; then
        while read -r value name; do
          if [ "$name" = "$reference" ]; then
            id=$value
            break
          fi
        done <"$folder/packed-refs"
      fi
      case $id in '' | *[!0-9a-f]*) id=- ;; esac
    }
    last='' quiet=0
    report() {
      find_head
      if [ "$id" != "$last" ]; then
        echo "head $id" || exit 0
        last=$id quiet=0
      elif [ "$quiet" -ge \(quietChecks) ]; then
        echo alive || exit 0
        quiet=0
      fi
      quiet=$((quiet + 1))
    }
    case ${BASH_VERSION-} in
    [4-9].* | [1-9][0-9].*)
      while report; do
        read -r -t \(interval) _
        [ $? -ne 1 ] || exit 0
      done
      ;;
    *)
      (
        while kill -0 $$ 2>/dev/null; do
          report
          sleep \(interval) 2>/dev/null || sleep 1
        done
      ) </dev/null &
      watcher=$!
      while read -r _; do :; done
      kill "$watcher" 2>/dev/null
      ;;
    esac
    """
}
