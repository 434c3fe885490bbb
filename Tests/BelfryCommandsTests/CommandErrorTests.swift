import BelfryCore
import BelfryStore
import Files
import Git
import Glibc
import Testing

@testable import BelfryCommands

/// The mapping of errors to messages, hints and exit codes.
@Suite struct CommandErrorTests {
  private struct Strange: Error, CustomStringConvertible {
    let description = "it is strange"
  }

  @Test("An error of a module keeps its cause, and has a kind and a hint")
  func sources() throws {
    let cases: [(any Error, CommandError.Kind, String)] = [
      (StoreError.locked(by: "belfry add"), .locked, "the store is locked by belfry add."),
      (StoreError.noSuchAlarm("tea"), .noSuchAlarm, "there is no alarm 'tea'."),
      (StoreError.noRemote("laptop"), .usage, "there is no remote 'laptop'."),
      (StoreError.noRemote(nil), .failed, "this store has no remote."),
      (StoreError.gitNotFound, .failed, "git is not installed."),
      (
        FileError("open", "/x", number: EACCES), .failed, "could not open /x: Permission denied."
      ),
      (GitError(.generic, "read it", "why"), .failed, "could not read it: why."),
      (
        ScheduleError.noTimes, .usage,
        "the schedule is not valid: \(ScheduleError.noTimes.reason)."
      ),
    ]
    for (error, kind, message) in cases {
      let failure = CommandError(error)
      #expect(failure.kind == kind, "\(error)")
      #expect(failure.message == message)
      #expect(failure.hints.count == 1, "\(error)")
      let source = try #require(failure.source)
      #expect(type(of: source) == type(of: error))
    }
  }

  @Test("An unknown error is described by its own text")
  func unknown() {
    #expect(CommandError(explaining: Strange()) == nil)
    let failure = CommandError(Strange())
    #expect(failure.kind == .failed && failure.message == "it is strange." && failure.hint == nil)
    #expect(failure.source is Strange)
  }

  @Test("A subject is added before the reason; kind, hints and cause stay")
  func causes() {
    let failure = CommandError("it was not recorded", causedBy: StoreError.locked(by: "git"))
    #expect(failure.kind == .locked)
    #expect(failure.message == "it was not recorded: the store is locked by git.")
    #expect(failure.hints == ["Try again when it has finished."])
    #expect(failure.source is StoreError)
    // The first cause is kept, however often a subject is added.
    let outer = CommandError("the tick failed", causedBy: failure)
    #expect(outer.message == "the tick failed: it was not recorded: the store is locked by git.")
    #expect(outer.source is StoreError)
  }

  @Test("Several hints become one text, in order")
  func hints() {
    let failure = CommandError(.failed, "x.", hints: ["One.", "Two."])
    #expect(failure.hint == "One. Two.")
    #expect(failure.with(hints: ["Zero."] + failure.hints).hint == "Zero. One. Two.")
    #expect(CommandError(.failed, "x.").hint == nil)
  }

  @Test("Credentials in URLs are masked in messages and hints")
  func masks() {
    let url = "https://user:secret@example.org/x"
    let failure = CommandError(.failed, "\(url) failed.", hint: "Correct \(url).")
    #expect(!failure.message.contains("secret"))
    #expect(failure.hint?.contains("secret") == false)
  }

  @Test("A file system without locks has its own hint, any other failed lock does not")
  func locks() {
    #expect(
      CommandError(FileError(locking: "/x", number: ENOLCK)).hint == CommandError.withoutLocks)
    #expect(
      CommandError(FileError("lock", "/x", number: ENOLCK)).hint != CommandError.withoutLocks)
    #expect(
      CommandError(FileError(locking: "/x", number: EROFS)).hint?.contains("read-only") == true)
    #expect("\(FileError(locking: "/x", number: EROFS))".hasPrefix("could not lock /x: "))
  }

  @Test(
    "An error of git has a cause",
    arguments: [
      (
        GitError(.generic, "write", "failed: No space left on device"),
        GitError.Cause.system(ENOSPC)
      ),
      (GitError(.damaged, "read", "the content does not match"), .damage),
      (GitError(.generic, "read", "corrupted loose object"), .damage),
      (GitError(.notFound, "read", "no such object"), .unknown),
    ])
  func gitCauses(_ error: GitError, _ cause: GitError.Cause) {
    #expect(error.cause == cause)
  }

  @Test("The doctor repeats the hint of an error, except the hint to run the doctor")
  func doctor() {
    func remedy(_ error: any Error) -> String? { DoctorText.remedy(CommandError(error)) }
    #expect(remedy(GitError(.notFound, "read", "no such object")) == nil)
    #expect(
      remedy(GitError(.damaged, "read", "x")) == "Repair it with 'belfry doctor --repair'.")
    #expect(remedy(StoreError.gitNotFound) == "Install it: apt-get install git")
    #expect(remedy(Strange()) == nil)
    let failure = Examination.log.failure("it is strange.")
    #expect(failure.message == "The check failed: it is strange." && failure.level == .problem)
    #expect(Examination.repair.failure("x.").message == "The repair failed: x.")
  }

  @Test("A folder that cannot be used because of a permission has its own remedy")
  func permissions() {
    #expect(Finding.UnreadableReason.system(EACCES).isDenied)
    #expect(!Finding.UnreadableReason.system(EIO).isDenied)
    #expect(Finding.UnreadableReason.git(GitError(.generic, "x", "Permission denied")).isDenied)
  }
}
