import BelfryCore

extension LocalFile.Format where Value == DeliveryLedger {
  /// The delivery ledger as JSON, see `DeliveryLedger.json`.
  ///
  /// An unreadable file counts as empty, because ringing twice is better than not at all.
  static var ledger: Self {
    Self(
      empty: DeliveryLedger(), maxSize: 64 << 20,
      decode: { bytes in (try? JSON(parsing: bytes))?.array.map(DeliveryLedger.init(json:)) },
      encode: { JSON.array($0.json).document })
  }
}
