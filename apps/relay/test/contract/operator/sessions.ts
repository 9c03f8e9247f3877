import {
  closeSession,
  consoleEnv,
  createCode,
  openConsole,
  openSession,
  renewSession,
} from "../../agents/console-session.ts";
import { withEnv, type Contract } from "../outcome.ts";
import { UNKNOWN_ID } from "../samples.ts";

const path = "/api/v1/admin/console-sessions";

export const sessionsContract: Contract<
  | "createSessionCode"
  | "openConsoleSession"
  | "renewConsoleSession"
  | "closeConsoleSession"
  | "listConsoleSessions"
  | "revokeConsoleSession"
> = {
  createSessionCode: { 201: (t) => createCode(t) },
  openConsoleSession: {
    201: withEnv(consoleEnv, async (t) => {
      const { body } = await createCode(t);
      return openSession(t, { code: body["code"] });
    }),
    "session.code_invalid": withEnv(consoleEnv, (t) => openSession(t, { code: "wrong" })),
    "session.https_required": async (t) => {
      const { body } = await createCode(t);
      return openSession(t, { code: body["code"] });
    },
  },
  renewConsoleSession: {
    200: withEnv(consoleEnv, async (t) => renewSession(t, (await openConsole(t)).cookie)),
    "session.cross_site": withEnv(consoleEnv, async (t) =>
      renewSession(t, (await openConsole(t)).cookie, { "sec-fetch-site": "cross-site" }),
    ),
    "session.ended": (t) => renewSession(t, "__Host-agent-console=unknown"),
  },
  closeConsoleSession: {
    200: withEnv(consoleEnv, async (t) => closeSession(t, (await openConsole(t)).cookie)),
    "session.cross_site": withEnv(consoleEnv, async (t) =>
      closeSession(t, (await openConsole(t)).cookie, {}),
    ),
    "session.ended": (t) => closeSession(t, "__Host-agent-console=unknown"),
  },
  listConsoleSessions: {
    200: withEnv(consoleEnv, async (t) => {
      await openConsole(t);
      return t.asOperator("GET", path);
    }),
  },
  revokeConsoleSession: {
    200: withEnv(consoleEnv, async (t) => {
      const { sessionId } = await openConsole(t);
      return t.asOperator("DELETE", `${path}/${sessionId}`);
    }),
    "session.not_found": (t) => t.asOperator("DELETE", `${path}/${UNKNOWN_ID}`),
  },
};
