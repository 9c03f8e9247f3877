import { HEX_OF_32_BYTES } from "@agent/crypto";
import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { wholeNumber } from "../../engine/fields.ts";
import { extensibleEnum } from "../../engine/extensible-enum.ts";
import { defineOperation } from "../../engine/operation.ts";

const NOTE = "text/plain; charset=utf-8";
const ArtifactHash = v.pipe(
  v.string(),
  v.regex(HEX_OF_32_BYTES, "must be 64 lower-case hexadecimal digits"),
);
/** A signed head of the relay's log. */
const Head = v.object({
  size: describeAs(wholeNumber, "The number of entries that the head covers."),
  signed_at: describeAs(wholeNumber, "The time of the signature, in ms since the Unix epoch."),
  note: describeAs(
    v.string(),
    "The checkpoint as a C2SP signed note, with the lines of the witnesses that cosigned it.",
  ),
  cosigned: describeAs(wholeNumber, "The number of witnesses that cosigned it."),
});

/** A witness of the relay's own log. */
const LogWitness = v.object({
  name: describeAs(v.string(), "The name in the key of the witness."),
  vkey: describeAs(v.string(), "The key of the witness in the form of C2SP signed notes."),
  prefix: describeAs(v.string(), "The URL under which the witness is asked."),
  state: describeAs(
    extensibleEnum(["unasked", "cosigned", "ahead", "refused", "unreachable"]),
    "The end of the last attempt; `ahead` if it has cosigned a head that this relay does not have.",
  ),
  size: describeAs(
    v.nullable(wholeNumber),
    "The size of the head that it cosigned last; null while that is not known, as after a failure.",
  ),
  answered_at: describeAs(
    v.nullable(wholeNumber),
    "The time of its last answer since the start, in ms since the Unix epoch; null until then.",
  ),
});

/** Two checkpoints by which another log, which this relay cosigns, contradicts itself. */
const LogEvidence = v.object({
  origin: describeAs(v.string(), "The origin of the other log."),
  code: describeAs(
    v.string(),
    "`log.equivocation` for two heads of one size, or `log.consistency_invalid` without a valid proof.",
  ),
  held: describeAs(v.string(), "The checkpoint that this relay had cosigned last, a signed note."),
  offered: describeAs(
    v.string(),
    "The checkpoint that the log signed and that does not fit, a signed note.",
  ),
  seen_at: describeAs(wholeNumber, "The time at which it was offered, in ms since the Unix epoch."),
});

/** The relay's transparency log in the formats of C2SP (docs/transparency.md). */
export const log = {
  getCheckpoint: defineOperation({
    method: "GET",
    path: "/log/v1/checkpoint",
    summary: "Get the newest head of the log that has enough cosignatures.",
    section: "Transparency log",
    auth: "public",
    tier: "log",
    media: [NOTE],
    ok: { 200: v.string() },
    refusals: ["log.no_checkpoint"],
  }),
  getLatestCheckpoint: defineOperation({
    method: "GET",
    path: "/log/v1/latest",
    summary: "Get the newest signed head of the log, with the cosignatures that it has.",
    section: "Transparency log",
    auth: "public",
    tier: "log",
    media: [NOTE],
    ok: { 200: v.string() },
    refusals: ["log.no_checkpoint"],
  }),
  getLogTile: defineOperation({
    method: "GET",
    path: "/log/v1/tile/:level/:tile",
    restOfPath: true,
    summary: "Get the hashes of a tile, or with the level `entries` a bundle of log entries.",
    section: "Transparency log",
    auth: "public",
    tier: "log",
    headers: { "Accept-Encoding": "With `gzip`, a bundle of entries is compressed." },
    media: ["application/octet-stream"],
    ok: { 200: v.string() },
    refusals: ["log.tile_not_found"],
  }),
  getLogProof: defineOperation({
    method: "GET",
    path: "/log/v1/proof",
    summary: "Get the proof file of the first entry of an artifact, by the artifact's hash.",
    section: "Transparency log",
    auth: "public",
    tier: "log",
    query: v.object({
      artifact: describeAs(ArtifactHash, "The SHA-256 of the artifact, as 64 hex digits."),
    }),
    media: [NOTE],
    ok: { 200: v.string() },
    refusals: ["log.entry_not_found", "log.not_integrated"],
  }),
  getLogState: defineOperation({
    method: "GET",
    path: "/api/v1/admin/log",
    summary: "Get the state of the relay's transparency log.",
    section: "Operator",
    auth: "master",
    tier: "read",
    ok: {
      200: v.object({
        on: describeAs(v.boolean(), "False while the operator has switched the log off."),
        origin: describeAs(v.string(), "The origin of the log, the name of its key."),
        vkey: describeAs(v.string(), "The key of the log in the form of C2SP signed notes."),
        size: describeAs(
          wholeNumber,
          "The number of entries, including those that no head covers yet.",
        ),
        lag: describeAs(wholeNumber, "The number of entries that no head covers yet."),
        held: describeAs(
          v.nullable(v.string()),
          "The reason why no head is signed: a head exists elsewhere that this database lacks; null otherwise.",
        ),
        latest: describeAs(v.nullable(Head), "The newest head; null before the first one."),
        published: describeAs(
          v.nullable(Head),
          "The newest head that has enough cosignatures; null before the first one.",
        ),
        witnesses: describeAs(v.array(LogWitness), "The witnesses of this log."),
        evidence: describeAs(
          v.array(LogEvidence),
          "The checkpoints of other logs that do not fit what this relay cosigned, oldest first.",
        ),
      }),
    },
    refusals: [],
  }),
} as const;
