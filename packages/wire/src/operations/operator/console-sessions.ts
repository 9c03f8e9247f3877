import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { extensibleEnum, shortText, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

const Level = v.picklist(["view", "operate"]);

/** A bearer token, valid for 5 minutes, for the operator's pages. */
const OpenSession = v.object({
  session_id: describeAs(v.string(), "The id of the session."),
  level: describeAs(
    extensibleEnum(Level.options),
    "What the session may do: only read (`view`), or act as well (`operate`).",
  ),
  operate_until: describeAs(
    v.nullable(wholeNumber),
    "The end of `operate`, in ms since the Unix epoch; null if the session only reads.",
  ),
  token: describeAs(v.string(), "The bearer token of the session, valid for 5 minutes."),
  expires_at: describeAs(wholeNumber, "The end of the token, in ms since the Unix epoch."),
});

export const ConsoleSession = v.object({
  session_id: describeAs(v.string(), "The id of the session."),
  level: describeAs(
    extensibleEnum(Level.options),
    "What the session may do: only read (`view`), or act as well (`operate`).",
  ),
  opened_by: describeAs(v.string(), "The operator that opened it."),
  opened_at: describeAs(
    wholeNumber,
    "The time at which it was opened, in ms since the Unix epoch.",
  ),
  renewed_at: wholeNumber,
  expires_at: describeAs(
    wholeNumber,
    "The time at which it ends, in ms since the Unix epoch; earlier when its page is idle.",
  ),
});
export type ConsoleSession = v.InferInput<typeof ConsoleSession>;

/** Proves that the request comes from the console's own page, because the cookie alone would not. */
const ownPageHeaders = {
  "Sec-Fetch-Site": "Must be `same-origin`; browsers set it.",
  "X-Agent-Console": "Must be `1`.",
};

export const consoleSessions = {
  createSessionCode: defineOperation({
    method: "POST",
    path: "/api/v1/admin/session-codes",
    summary: "Create a code that opens one console session within 5 minutes.",
    section: "Operator",
    auth: "master",
    operator: "never",
    tier: "write",
    whileFrozen: true,
    body: v.object({
      level: describeAs(
        v.optional(Level),
        "What the session may do: only read (`view`), or act as well (`operate`).",
      ),
    }),
    ok: {
      201: v.object({
        code: describeAs(v.string(), "The code, which opens one session."),
        level: describeAs(extensibleEnum(Level.options), "What the session may do."),
        expires_at: wholeNumber,
      }),
    },
    refusals: [],
  }),
  openConsoleSession: defineOperation({
    method: "POST",
    path: "/api/v1/console/session",
    summary: "Open a console session with a code, or with the master token and an empty body.",
    section: "Operator",
    auth: "public",
    readsCaller: true,
    operator: "view",
    tier: "auth",
    whileFrozen: true,
    body: v.object({
      code: describeAs(v.optional(shortText), "The code; absent with the master token."),
    }),
    ok: { 201: OpenSession },
    refusals: ["session.code_invalid", "session.https_required"],
  }),
  renewConsoleSession: defineOperation({
    method: "POST",
    path: "/api/v1/console/session/renew",
    summary: "Get the next token of the console session in the cookie.",
    section: "Operator",
    auth: "public",
    tier: "auth",
    whileFrozen: true,
    headers: ownPageHeaders,
    ok: { 200: OpenSession },
    refusals: ["session.cross_site", "session.ended"],
  }),
  closeConsoleSession: defineOperation({
    method: "DELETE",
    path: "/api/v1/console/session",
    summary: "End the console session in the cookie, and its tokens.",
    section: "Operator",
    auth: "public",
    tier: "auth",
    whileFrozen: true,
    headers: ownPageHeaders,
    ok: { 200: v.object({ session_id: describeAs(v.string(), "The id of the ended session.") }) },
    refusals: ["session.cross_site", "session.ended"],
  }),
  listConsoleSessions: defineOperation({
    method: "GET",
    path: "/api/v1/admin/console-sessions",
    summary: "List the console sessions that have not ended.",
    section: "Operator",
    auth: "master",
    tier: "read",
    ok: {
      200: v.object({
        sessions: describeAs(v.array(ConsoleSession), "The sessions that have not ended."),
        next_cursor: describeAs(v.null(), "Always null: the list has one page."),
      }),
    },
    refusals: [],
  }),
  revokeConsoleSession: defineOperation({
    method: "DELETE",
    path: "/api/v1/admin/console-sessions/:sessionId",
    summary: "End a console session, and its tokens, at once.",
    section: "Operator",
    auth: "master",
    tier: "write",
    whileFrozen: true,
    ok: { 200: v.object({ session_id: describeAs(v.string(), "The id of the ended session.") }) },
    refusals: ["session.not_found"],
  }),
} as const;
