// A delivery hook that records its start time and its alarm; for a notification of several alarms, each of them. Their
// titles have no escapes. With SOUND, it rings until the daemon ends it, and records the time of its end.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char input[1 << 24], lines[1 << 22];
static int length;

static void add(struct timespec now, const char *title, int size, const char *occurrence, int digits) {
  const char *due = getenv("BELFRY_DUE");
  length += snprintf(lines + length, sizeof lines - length, "%lld.%09ld\t%.*s\t%.*s\t%s\n", (long long)now.tv_sec,
                     now.tv_nsec, size, title, digits, occurrence, due ? due : "");
}

/* Returns the text value of the next member with a name, and its length. */
static char *value(char *from, const char *name, int *size) {
  char *start = from ? strstr(from, name) : NULL;
  start = start ? strchr(start + strlen(name), '"') : NULL;
  *size = start ? (int)strcspn(start + 1, "\"") : 0;
  return start ? start + 1 : NULL;
}

int main(void) {
#ifdef SOUND
  sigset_t set;
  int number;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, NULL);
  const char *started = getenv("BENCHMARK_STARTED");
  int begun = started ? open(started, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
  if (begun < 0 || write(begun, ".", 1) != 1) return 1;
  if (write(1, "delivered\n", 10) != 10) return 1;
  sigwait(&set, &number);
#endif
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const char *title = getenv("BELFRY_TITLE"), *occurrence = getenv("BELFRY_OCCURRENCE");
  const char *path = getenv("BENCHMARK_RUNG");
  if (getenv("BELFRY_COUNT")) {
    for (long got, all = 0; (got = read(0, input + all, sizeof input - 1 - all)) > 0; all += got) continue;
    int digits, size;
    /* The members are sorted: the occurrence of an alarm, then its title. */
    for (char *at = input, *when; (when = value(at, "\"occurrence\":", &digits)); ) {
      if ((at = value(when, "\"title\":", &size))) add(now, at, size, when, digits);
    }
  } else {
    title = title ? title : "", occurrence = occurrence ? occurrence : "";
    add(now, title, strlen(title), occurrence, strlen(occurrence));
  }
  int rung = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
  return rung < 0 || write(rung, lines, length) != length;
}
