import ArgumentParser

struct PartnerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "partner",
    abstract: "Set alarms on a partner's devices and accept theirs.",
    discussion: """
      You and your partner exchange messages, encrypted end to end, through a mailbox: a git remote that both of you \
      can push to. The mailbox is not your store's remote. Create an empty repository for it.

        belfry partner invite --remote ssh://you@host/srv/mailbox.git
        belfry partner accept 'belfry://pair?…'      # the link, on the partner's side
        belfry partner send Alex "Wake up from your nap ❤️" --at 16:45
        belfry partner send Alex "Bins out" --at 19:00 --repeat weekly thu
        belfry partner recall 3kq7                   # recall a request
        belfry partner log                           # both directions
        belfry partner limits Alex --per-day 5 --quiet 22:00-07:00
        belfry partner reply nap "On my way"
        belfry partner remove Alex

      An alarm from a partner rings like any other. Its title is From Alex; commands also find it by its message. \
      'belfry done' sends the partner the receipt ❤️ Got it. The daemon checks the mailbox once a minute. Without a \
      daemon, 'belfry sync' does.
      """,
    subcommands: [
      PartnerList.self, PartnerInvite.self, PartnerAccept.self, PartnerConfirm.self,
      PartnerSend.self, PartnerRecall.self, PartnerReply.self, PartnerLog.self,
      PartnerLimitsCommand.self, PartnerMute.self, PartnerUnmute.self, PartnerRename.self,
      PartnerRemove.self, PartnerAlarms.self, PartnerKeys.self, PartnerSync.self,
    ], defaultSubcommand: PartnerList.self)

  @ParentCommand var root: Belfry
}
