import * as v from "valibot";
import { extensibleEnum, shortText, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

const Level = v.picklist(["view", "operate"]);

/** A bearer of 5 minutes for the pages of the operator. */
const OpenSession = v.object({
  session_id: v.string(),
  level: extensibleEnum(Level.options),
  /** The end of `operate`; null if the session only reads. */
  operate_until: v.nullable(wholeNumber),
  token: v.string(),
  /** The end of the token. */
  expires_at: wholeNumber,
});

export const ConsoleSession = v.object({
  session_id: v.string(),
  level: extensibleEnum(Level.options),
  opened_by: v.string(),
  opened_at: wholeNumber,
  renewed_at: wholeNumber,
  /** It ends at this time, or earlier when its page is idle. */
  expires_at: wholeNumber,
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
    body: v.object({ level: v.optional(Level) }),
    ok: {
      201: v.object({
        code: v.string(),
        level: extensibleEnum(Level.options),
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
    body: v.object({ code: v.optional(shortText) }),
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
    ok: { 200: v.object({ session_id: v.string() }) },
    refusals: ["session.cross_site", "session.ended"],
  }),
  listConsoleSessions: defineOperation({
    method: "GET",
    path: "/api/v1/admin/console-sessions",
    summary: "List the console sessions that have not ended.",
    section: "Operator",
    auth: "master",
    tier: "read",
    ok: { 200: v.object({ sessions: v.array(ConsoleSession), next_cursor: v.null() }) },
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
    ok: { 200: v.object({ session_id: v.string() }) },
    refusals: ["session.not_found"],
  }),
} as const;
