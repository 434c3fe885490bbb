import BelfryActions
import BelfryCore
import BelfryExchange
import BelfryStore

/// The JSON of a subscription, in a file that only this user can read.
extension CalendarSubscription {
  /// The content of the file.
  var json: JSON {
    var silent: JSON?
    switch self.silent {
    case .ignored: break
    case .ringing: silent = .integer(0)
    case .ringingBefore(let seconds): silent = .integer(seconds)
    }
    let (kind, place) =
      switch source {
      case .url(let url): ("url", url)
      case .file(let path): ("file", path)
      case .folder(let path): ("folder", path)
      }
    return JSON.object(omittingNil: [
      "format": .integer(1), kind: .string(place),
      "user": (credentials?.user).map { .string($0) },
      "password": (credentials?.password).map { .string($0) },
      "tags": tags.isEmpty ? nil : .array(tags.sorted().map { .string($0.text) }),
      "silent": silent, "interval": interval.map { .integer($0) },
      "state": checkedAt == nil ? nil : state.json,
    ])
  }

  /// Creates a subscription from the content of its file; nil if that is not valid.
  init?(name: String, _ json: JSON) {
    guard json["format"]?.integer == 1 else { return nil }
    if let url = json["url"]?.string {
      self.init(name: name, source: .url(url))
    } else if let path = json["file"]?.string {
      self.init(name: name, source: .file(path))
    } else if let path = json["folder"]?.string {
      self.init(name: name, source: .folder(path))
    } else {
      return nil
    }
    credentials = json["user"]?.string.map {
      CalendarSource.Credentials(user: $0, password: json["password"]?.string)
    }
    tags = Set((json["tags"]?.array ?? []).compactMap { $0.string.flatMap { try? AlarmTag($0) } })
    if let seconds = json["silent"]?.integer {
      silent = seconds > 0 ? .ringingBefore(seconds) : .ringing
    }
    interval = json["interval"]?.integer
    state = json["state"].map { State($0) } ?? State()
  }
}

extension CalendarSubscription.State {
  fileprivate var json: JSON {
    let series = self.series.mapValues { series in
      JSON.array(
        [.string(series.fingerprint)] + series.alarms.map { .string($0.text) })
    }
    let withdrawn = Dictionary(uniqueKeysWithValues: self.withdrawn.map { ($0.text, JSON($1)) })
    return JSON.object(omittingNil: [
      "entityTag": entityTag.map { .string($0) }, "lastModified": lastModified.map { .string($0) },
      "signature": signature.map { .string($0) },
      "refreshInterval": refreshInterval.map { .integer($0) },
      "series": series.isEmpty ? nil : .object(series),
      "withdrawn": withdrawn.isEmpty ? nil : .object(withdrawn),
      "held": held.map { .array([.integer(Int64($0.count)), .integer(Int64($0.total))]) },
      "damaged": damaged.isEmpty ? nil : .array(damaged.map { .string($0) }),
      "failure": failure.map { .string($0) },
      "failureCount": failureCount == 0 ? nil : .integer(Int64(failureCount)),
      "succeededAt": succeededAt.map { JSON($0) },
    ])
  }

  fileprivate init(_ json: JSON) {
    self.init()
    entityTag = json["entityTag"]?.string
    lastModified = json["lastModified"]?.string
    signature = json["signature"]?.string
    refreshInterval = json["refreshInterval"]?.integer
    for (uid, value) in json["series"]?.object ?? [:] {
      let words = (value.array ?? []).compactMap(\.string)
      series[uid] = CalendarFeed.Series(
        fingerprint: words.first ?? "", alarms: words.dropFirst().compactMap { Identifier($0) })
    }
    for (text, time) in json["withdrawn"]?.object ?? [:] {
      if let id = Identifier(text), let time = time.instant { withdrawn[id] = time }
    }
    let numbers = (json["held"]?.array ?? []).compactMap { $0.integer.map { Int($0) } }
    if numbers.count == 2 { held = ImportFeed.HeldLoss(count: numbers[0], total: numbers[1]) }
    damaged = (json["damaged"]?.array ?? []).compactMap(\.string)
    failure = json["failure"]?.string
    failureCount = max(0, Int(clamping: json["failureCount"]?.integer ?? 0))
    succeededAt = json["succeededAt"]?.instant
  }
}
