import * as v from "valibot";
import {
  baseUrl,
  cidrList,
  corsOrigins,
  decimalBetween,
  integerBetween,
  listenAddress,
  oneOf,
  operatorTokens,
  plainText,
  walletAddress,
  type Variable,
} from "../config-values.ts";

/** The variables of the process and of what it serves. */
export const serverVariables = {
  AGENT_API_TOKEN: {
    purpose: "Master bearer token; a second one is valid beside it while it is replaced",
    schema: v.optional(operatorTokens),
    unset: "required, unless AGENT_API_TOKEN_FILE is set",
    secret: true,
  },
  AGENT_API_TOKEN_FILE: {
    purpose:
      "File with the value of AGENT_API_TOKEN, used instead of it; on SIGHUP only this file is read again",
    schema: v.optional(plainText),
    unset: "AGENT_API_TOKEN is used",
  },
  X402_PAY_TO_ADDRESS: {
    purpose: "Wallet that receives settlements; the all-zero address turns real payments off",
    schema: walletAddress,
  },
  AGENT_HOST: { purpose: "Address to listen on", schema: v.optional(listenAddress, "0.0.0.0") },
  PORT: {
    purpose: "Port to listen on; 0 takes a free one",
    schema: v.optional(integerBetween(0, 65_535), "3000"),
  },
  AGENT_BASE_URL: {
    purpose: "Public address of the relay in documents and links",
    schema: v.optional(baseUrl),
    unset: "AGENT_FEDERATION_ENDPOINT_URL, if that is set",
  },
  AGENT_CORS_ORIGIN: { purpose: "Allowed CORS origins", schema: v.optional(corsOrigins, "*") },
  AGENT_TRUSTED_PROXIES: {
    purpose: "Proxies whose X-Forwarded-For is trusted",
    schema: v.optional(cidrList),
    unset: "none",
  },
  AGENT_RATE_LIMIT_SCALE: {
    purpose: "Multiplies every rate limit; 0 turns them off",
    schema: v.optional(decimalBetween(0, 1_000_000), "1"),
  },
  LOG_LEVEL: {
    purpose: "Lowest level that is logged",
    schema: v.optional(oneOf("debug", "info", "warn", "error"), "info"),
  },
  AGENT_CONSOLE: {
    purpose: "Whether the relay serves pages for browsers; verify leaves only / and /verify",
    schema: v.optional(oneOf("on", "off", "verify"), "on"),
  },
} as const satisfies Record<string, Variable>;
