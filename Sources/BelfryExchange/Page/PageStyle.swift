import Crypto

/// The style sheet of a page.
enum PageStyle {
  /// The style sheet.
  static let sheet =
    """
    :root{color-scheme:light dark;\(PagePalette.light.variables)}
    @media (prefers-color-scheme:dark){:root{\(PagePalette.dark.variables)}}
    @media print{:root{color-scheme:light;\(PagePalette.light.variables)}}
    """ + rules

  /// The source of the style sheet for a content security policy.
  static let policySource = "'sha256-\(base64(SHA256.hash(data: Array(sheet.utf8))))'"

  private static let rules = """

    *{box-sizing:border-box}
    html{scroll-behavior:auto;-webkit-text-size-adjust:100%}
    body{margin:0;background:var(--bg);color:var(--text);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;font-variant-numeric:tabular-nums}
    .page{max-width:76rem;margin:0 auto;padding:0 1rem 3rem}
    .v{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
    .skip{position:absolute;left:1rem;top:-10rem;background:var(--bg);padding:.5rem 1rem;border-radius:.375rem;z-index:1}
    .skip:focus{top:1rem}
    a{color:var(--link)}
    :focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:.25rem}
    header{padding:2rem 0 1rem}
    h1{font-size:1.75rem;line-height:1.2;margin:0;letter-spacing:-.01em}
    h2{font-size:1.25rem;line-height:1.3;margin:0 0 .75rem;scroll-margin-top:1rem}
    h3{font-size:1rem;margin:0 0 .5rem}
    section{margin-top:2.5rem}
    p{margin:.25rem 0;max-width:44rem}
    .m,caption{color:var(--muted)}
    section>p.m{margin-bottom:.75rem}
    nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:0;padding:.75rem 0;border-top:1px solid var(--border);border-bottom:1px solid var(--border)}
    nav a{display:inline-block;padding:.25rem 0;text-underline-offset:.2em}
    .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));gap:.75rem;margin:1.25rem 0 0}
    .tiles div{background:var(--surface);border:1px solid var(--border);border-radius:.5rem;padding:.75rem 1rem}
    .tiles dt{color:var(--muted);font-size:.875rem}
    .tiles dd{margin:0;font-size:1.375rem;font-weight:600;line-height:1.3;overflow-wrap:anywhere}
    .tiles dd+dd{font-size:.875rem;font-weight:400;color:var(--muted)}
    table{border-collapse:collapse;width:100%}
    caption{text-align:left;font-size:.875rem;padding-bottom:.5rem}
    th,td{text-align:left;vertical-align:top;padding:.5rem .75rem .5rem 0;font-weight:400;overflow-wrap:anywhere}
    thead th{color:var(--muted);font-size:.8125rem;font-weight:600;border-bottom:1px solid var(--border);white-space:nowrap}
    tbody tr+tr>*{border-top:1px solid var(--border)}
    tbody th{font-weight:600}
    .n{text-align:right;white-space:nowrap}
    .note,.tag{color:var(--muted);font-weight:400;font-size:.875rem}
    .note{display:block}
    .tag{margin-left:.5rem;white-space:nowrap}
    .done{color:var(--done)}.auto{color:var(--auto)}.skipped{color:var(--skipped)}.missed{color:var(--missed)}.open{color:var(--link)}
    .months{display:grid;gap:2rem}
    .month{table-layout:fixed;border:1px solid var(--border)}
    .month caption{color:var(--text);font-weight:600;font-size:1rem}
    .month th{padding:.375rem .5rem}
    .month td{border:1px solid var(--border);padding:.375rem .5rem;height:6rem;background:var(--bg)}
    .month td.o{background:var(--surface)}
    .month td[aria-current]{background:var(--today)}
    .month td>time{font-weight:600;font-size:.875rem}
    .month .w{display:none}
    .month .past>time{color:var(--muted)}
    .month ul{list-style:none;margin:.25rem 0 0;padding:0;font-size:.8125rem;line-height:1.35}
    .month li{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
    .month li i{font-style:normal;display:inline-block;width:1.1em;text-align:center}
    .year{display:grid;grid-template-columns:repeat(6,1fr);gap:1.25rem 1.5rem;list-style:none;margin:0;padding:0}
    .year h3{font-size:.8125rem;font-weight:600;color:var(--muted);margin:0 0 .25rem}
    .year svg{display:block;width:100%;max-width:10.5rem;height:auto}
    .k{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;margin:1rem 0 0;padding:0;font-size:.875rem}
    .k svg{width:.875rem;height:.875rem;vertical-align:-.1em;margin-right:.4rem}
    .i{fill:var(--idle)}.d{fill:var(--done)}.a{fill:none;stroke:var(--auto);stroke-width:2}.s{stroke:var(--skipped);stroke-width:3;fill:none}.x{stroke:var(--missed);stroke-width:3;fill:none}.t{fill:none;stroke:var(--text);stroke-width:1.5}
    .chart{background:var(--surface);border:1px solid var(--border);border-radius:.5rem;padding:.75rem;margin:0 0 1.5rem}
    .chart svg{display:block;width:100%;height:auto}
    .chart text{fill:var(--muted);font-size:13px}
    .grid{stroke:var(--border);fill:none}.limit{stroke:var(--skipped);stroke-dasharray:5 4;fill:none}.box{stroke:var(--link);stroke-width:6;stroke-opacity:.35;fill:none}.dot{stroke:var(--link);stroke-width:7;stroke-linecap:round;fill:none}
    .chart .limit-text{fill:var(--skipped)}
    .wide{display:block}.slim{display:none}
    footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--border);font-size:.875rem;color:var(--muted)}
    @media (max-width:44rem){
    .wide{display:none}.slim{display:block}
    header{padding-top:1.25rem}
    .tiles{grid-template-columns:1fr 1fr}
    .stack,.stack tbody,.stack tr,.stack th,.stack td,.stack caption{display:block}
    .stack thead{display:none}
    .stack tbody tr{padding:.625rem 0}
    .stack tbody tr+tr{border-top:1px solid var(--border)}
    .stack tbody tr+tr>*{border-top:0}
    .stack th,.stack td{padding:.125rem 0;text-align:left;white-space:normal}
    .stack td:empty{display:none}
    .alarms td::before,.responses td::before{color:var(--muted);font-size:.875rem;display:inline-block;min-width:6.5rem}
    .alarms td:nth-of-type(1)::before{content:"State"}
    .alarms td:nth-of-type(2)::before{content:"Schedule"}
    .alarms td:nth-of-type(3)::before{content:"Next"}
    .alarms td:nth-of-type(4)::before{content:"Done"}
    .alarms td:nth-of-type(5)::before{content:"On time"}
    .alarms td:nth-of-type(6)::before{content:"Delay"}
    .alarms td:nth-of-type(7)::before{content:"Streak"}
    .year{grid-template-columns:repeat(3,1fr);gap:1rem}
    .responses th,.responses td{padding-right:.5rem}
    .responses .q{display:none}
    .responses th{white-space:nowrap}
    .slim .box{stroke-width:3}.slim .dot{stroke-width:5}
    .month{border:0}
    .month td{display:grid;grid-template-columns:4rem 1fr;border:0;height:auto;padding:.375rem .5rem}
    .month td.o,.month td.e{display:none}
    .month .w{display:inline}
    .month ul{margin:0;font-size:.9375rem}
    .month li{white-space:normal}
    }
    @media print{
    @page{margin:15mm}
    body{font-size:10pt}
    .page{max-width:none;padding:0}
    .skip,nav{display:none}
    a{color:inherit;text-decoration:none}
    section{margin-top:1.5rem}
    h2,h3,caption,thead{break-after:avoid}
    tr,.month,.chart,.year li,.tiles div{break-inside:avoid}
    .month td{height:3.25rem}
    .month li{white-space:normal}
    .tiles{grid-template-columns:repeat(4,1fr)}
    *{print-color-adjust:exact;-webkit-print-color-adjust:exact}
    }

    """

  /// Returns bytes in base64.
  private static func base64(_ bytes: some Sequence<UInt8>) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    let bytes = Array(bytes)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[start..<min(start + 3, bytes.count)]
      let bits = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
      for index in 0..<4 {
        text.append(
          index <= part.count ? alphabet[bits >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
