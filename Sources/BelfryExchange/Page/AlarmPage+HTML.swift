import BelfryCore

extension AlarmPage {
  /// The page as one self-contained document, in UTF-8. It is well-formed XML, has no script, and requests nothing.
  public var html: [UInt8] {
    var html = HTMLWriter()
    html.markup("<!DOCTYPE html>\n")
    html.element("html", ("lang", "en")) { html in
      writeHead(&html)
      html.element("body") { html in
        html.element("div", ("class", "page")) { html in
          html.element("a", ("class", "skip"), ("href", "#main"), text: "Skip to the content")
          writeHeader(&html)
          html.element("main", ("id", "main"), ("tabindex", "-1")) { html in
            if !open.isEmpty { writeOpen(&html) }
            writeCalendar(&html)
            writeYear(&html)
            writeResponses(&html)
            writeMissed(&html)
            writeAlarms(&html)
          }
          html.element("footer") { html in
            html.element("p", text: "Written by Belfry on \(updated).")
            html.element(
              "p",
              text:
                "On time: done early or within 30 minutes. The percentage is of the occurrences that were done, missed or completed automatically."
            )
          }
        }
      }
    }
    html.markup("\n")
    return html.bytes
  }

  private func writeHead(_ html: inout HTMLWriter) {
    html.element("head") { html in
      html.empty("meta", ("charset", "utf-8"))
      html.empty(
        "meta", ("http-equiv", "Content-Security-Policy"),
        (
          "content",
          "default-src 'none'; style-src \(PageStyle.policySource); base-uri 'none'; form-action 'none'"
        ))
      html.empty("meta", ("name", "viewport"), ("content", "width=device-width, initial-scale=1"))
      html.empty("meta", ("name", "color-scheme"), ("content", "light dark"))
      html.empty("meta", ("name", "referrer"), ("content", "no-referrer"))
      html.element("title", text: "Alarms, \(updated)")
      html.style(PageStyle.sheet)
    }
  }

  // MARK: Header

  private func writeHeader(_ html: inout HTMLWriter) {
    html.element("header") { html in
      html.element("h1", text: "Alarms")
      html.element("p", ("class", "m"), text: "As of \(updated)")
      html.element("dl", ("class", "tiles")) { html in
        let year = ResponseSummary(responses)
        tile(
          "Next", next?.title ?? "Nothing", next?.time ?? "No occurrence is ahead", &html)
        tile("Open", open.isEmpty ? "None" : "\(open.count)", "waiting for an answer", &html)
        tile(
          "On time", year.onTimePercent.map { "\($0) %" } ?? "None",
          year.onTimePercent == nil
            ? "nothing was due in 12 months" : "\(year.onTime) of \(year.expected) in 12 months",
          &html)
        tile(
          "Missed", year.missed == 0 ? "None" : "\(year.missed)", "in the last 12 months", &html)
      }
    }
    html.element("nav", ("aria-label", "Sections")) { html in
      html.element("ul") { html in
        var sections = [
          ("calendar", "Calendar"), ("year", "Year"), ("delays", "Delays"), ("missed", "Missed"),
          ("alarms", "Alarms"),
        ]
        if !open.isEmpty { sections.insert(("open", "Open"), at: 0) }
        for (id, title) in sections {
          html.element("li") { $0.element("a", ("href", "#\(id)"), text: title) }
        }
      }
    }
  }

  private func tile(
    _ name: String, _ value: String, _ remark: String, _ html: inout HTMLWriter
  ) {
    html.element("div") { html in
      html.element("dt", text: name)
      html.element("dd") { $0.element("bdi", text: AlarmPage.cut(value, to: 60)) }
      html.element("dd", text: remark)
    }
  }

  // MARK: Sections

  /// Writes a section with its heading.
  func section(
    _ id: String, _ title: String, _ html: inout HTMLWriter,
    _ content: (inout HTMLWriter) -> Void
  ) {
    html.element("section", ("id", id), ("aria-labelledby", "\(id)-title")) { html in
      html.element("h2", ("id", "\(id)-title"), text: title)
      content(&html)
    }
  }

  /// Writes the head of a table, whose columns with a number are aligned to the right.
  func head(_ columns: [(name: String, style: String)], _ html: inout HTMLWriter) {
    html.element("thead") { html in
      html.element("tr") { html in
        for (name, style) in columns {
          if style.isEmpty {
            html.element("th", ("scope", "col"), text: name)
          } else {
            html.element("th", ("scope", "col"), ("class", style), text: name)
          }
        }
      }
    }
  }

  private func writeOpen(_ html: inout HTMLWriter) {
    section("open", "Waiting for an answer", &html) { html in
      writeList(
        open, "Occurrences that ring, or are snoozed, pending or missed",
        columns: ("Alarm", "State"),
        &html)
    }
  }

  private func writeMissed(_ html: inout HTMLWriter) {
    section("missed", "Missed", &html) { html in
      if missed.isEmpty {
        html.element(
          "p",
          text: open.isEmpty
            ? "Nothing was missed in the last 12 months."
            : "No other occurrence was missed in the last 12 months.")
        return
      }
      writeList(
        missed, "Missed occurrences of the last 12 months, newest first",
        columns: ("Alarm", ""), &html)
      if earlierMissed > 0 {
        html.element("p", ("class", "m"), text: "And \(earlierMissed) earlier.")
      }
    }
  }

  private func writeList(
    _ items: [Occurrence], _ caption: String, columns: (String, String),
    _ html: inout HTMLWriter
  ) {
    html.element("table", ("class", "stack")) { html in
      html.element("caption", text: caption)
      var names = [(columns.0, ""), ("Occurrence", "")]
      if !columns.1.isEmpty { names.append((columns.1, "")) }
      head(names, &html)
      html.element("tbody") { html in
        for item in items {
          html.element("tr") { html in
            html.element("th", ("scope", "row")) { $0.element("bdi", text: item.title) }
            html.element("td") {
              $0.element("time", ("datetime", "\(item.civil)"), text: item.time)
            }
            if !columns.1.isEmpty {
              html.element(
                "td", ("class", item.state.hasPrefix("missed") ? "missed" : "open"),
                text: item.state)
            }
          }
        }
      }
    }
  }

  private func writeAlarms(_ html: inout HTMLWriter) {
    section("alarms", "Alarms", &html) { html in
      if rows.isEmpty { return html.element("p", text: "No alarms yet.") }
      html.element("table", ("class", "stack alarms")) { html in
        html.element(
          "caption",
          text:
            "\(AlarmPage.count(rows.count, "alarm")) by title; counts and delays are of the last 12 months"
        )
        head(
          [
            ("Alarm", ""), ("State", ""), ("Schedule", ""), ("Next", ""), ("Done", "n"),
            ("On time", "n"), ("Delay", "n"), ("Streak", "n"),
          ], &html)
        html.element("tbody") { html in for row in rows { write(row, &html) } }
      }
    }
  }

  private func write(_ row: Row, _ html: inout HTMLWriter) {
    html.element("tr") { html in
      html.element("th", ("scope", "row")) { html in
        html.element("bdi", text: row.title)
        for tag in row.tags { html.element("span", ("class", "tag"), text: "+\(tag)") }
        if let note = row.note {
          html.element("bdi", ("class", "note"), text: AlarmPage.cut(note, to: 120))
        }
      }
      let style: String? =
        switch row.state {
        case .missed: "missed"
        case .ringing, .snoozed, .pending: "open"
        case .disabled, .finished, .paused: "m"
        case .active: nil
        }
      if let style {
        html.element("td", ("class", style), text: row.state.rawValue)
      } else {
        html.element("td", text: row.state.rawValue)
      }
      html.element("td", text: row.schedule)
      html.element("td", text: row.next)
      let values = [
        row.responses.done == 0 ? "" : "\(row.responses.done)",
        row.responses.onTimePercent.map { "\($0) %" } ?? "",
        row.responses.median.map(AlarmPage.delay) ?? "", row.streak == 0 ? "" : "\(row.streak)",
      ]
      for value in values { html.element("td", ("class", "n"), text: value) }
    }
  }

  /// Returns a text with at most a number of characters, on one line.
  static func cut(_ text: String, to count: Int) -> String {
    text.count <= count ? text : text.prefix(count - 1) + "…"
  }
}
