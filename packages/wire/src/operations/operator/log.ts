import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { wholeNumber } from "../../engine/fields.ts";
import { extensibleEnum } from "../../engine/extensible-enum.ts";
import { defineOperation } from "../../engine/operation.ts";

const NOTE = "text/plain; charset=utf-8";
const ArtifactHash = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hexadecimal digits"),
);
const Head = v.object({
  size: wholeNumber,
  signed_at: wholeNumber,
  note: v.string(),
  cosigned: wholeNumber,
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
        on: v.boolean(),
        origin: v.string(),
        vkey: v.string(),
        /** The number of entries, those that no head covers yet included. */
        size: wholeNumber,
        /** The entries that no head covers yet. */
        lag: wholeNumber,
        /** Why no head is signed; null while heads are signed. */
        held: v.nullable(v.string()),
        latest: v.nullable(Head),
        published: v.nullable(Head),
        /** The witnesses of this log. */
        witnesses: v.array(
          v.object({
            name: v.string(),
            vkey: v.string(),
            prefix: v.string(),
            state: extensibleEnum(["unasked", "cosigned", "ahead", "refused", "unreachable"]),
            /** The size that it cosigned last. */
            size: v.nullable(wholeNumber),
            answered_at: v.nullable(wholeNumber),
          }),
        ),
        /** Signed checkpoints of other logs that do not fit what this relay cosigned. */
        evidence: v.array(
          v.object({
            origin: v.string(),
            code: v.string(),
            held: v.string(),
            offered: v.string(),
            seen_at: wholeNumber,
          }),
        ),
      }),
    },
    refusals: [],
  }),
} as const;
