export {
  buildLogEntry,
  ENTRY_BYTES,
  ENTRY_KINDS,
  type EntryKind,
  hashTag,
  isSameArtifact,
  type LogEntry,
  type LogEntryFacts,
  parseLogEntry,
  type ParseLogEntryResult,
} from "./entries/entry.ts";
export {
  formatEntryBundle,
  parseEntryBundle,
  type ParseEntryBundleResult,
} from "./entries/entry-bundle.ts";
export { entryOf } from "./entries/entry-of.ts";
export {
  formatProofFile,
  parseProofFile,
  type ParseProofFileResult,
  type ProofFile,
} from "./entries/proof-file.ts";
export {
  createEntryScanner,
  type EntryAlarm,
  type EntryAlarmCode,
  type EntryScanner,
  scanEntries,
  type ScanResult,
  type WatchList,
} from "./entries/scan-entries.ts";
export { parseCheckpoint, type ParseCheckpointResult, type TreeHead } from "./notes/checkpoint.ts";
export { cosignHead, type WitnessSigner } from "./notes/cosignature.ts";
export { deriveLogKeys, type LogKeys } from "./notes/derive-log-keys.ts";
export { isLaterGeneration } from "./notes/log-generation.ts";
export {
  type KeyAddress,
  type LogStatement,
  openLogStatement,
  type OpenLogStatementResult,
  signLogStatement,
  type StatedLog,
} from "./notes/log-statement.ts";
export {
  type Note,
  NOTE_LIMITS,
  type NoteSignature,
  parseNote,
  type ParseNoteResult,
} from "./notes/note.ts";
export {
  type CheckpointRefusal,
  type Cosignature,
  openCheckpoint,
  type OpenCheckpointResult,
  type TrustedKeys,
} from "./notes/open-checkpoint.ts";
export { signCheckpoint } from "./notes/sign-checkpoint.ts";
export {
  buildVerifierKey,
  formatVerifierKey,
  KEY_TYPES,
  parseVerifierKey,
  type ParseVerifierKeyResult,
  type VerifierKey,
} from "./notes/verifier-key.ts";
export { getEmptyRoot, HASH_BYTES, hashLeaf, hashNode } from "./tree/hash.ts";
export { computeRoot, proveConsistency, proveInclusion, type ReadTile } from "./tree/prove.ts";
export {
  countTiles,
  formatTilePath,
  parseTilePath,
  type ParseTilePathResult,
  TILE_WIDTH,
  type TileCount,
  type TilePath,
} from "./tree/tile-path.ts";
export { type FullTile, type PartialTiles, TreeEdge } from "./tree/tree-edge.ts";
export {
  type ConsistencyClaim,
  type ConsistencyResult,
  type InclusionClaim,
  type InclusionResult,
  verifyConsistency,
  verifyEntryInclusion,
  verifyInclusion,
} from "./tree/verify-proof.ts";
export {
  type AddCheckpoint,
  type AddCheckpointAnswer,
  answerAddCheckpoint,
  formatAddCheckpoint,
  MAX_ADD_CHECKPOINT_BYTES,
  type NextHead,
  parseAddCheckpoint,
  type ParseAddCheckpointResult,
  type WitnessedHead,
} from "./witness/add-checkpoint.ts";
export { compareHeads, type CompareHeadsResult } from "./witness/compare-heads.ts";
