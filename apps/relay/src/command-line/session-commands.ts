import { formatTime } from "./format-values.ts";
import type { OperatorCommand } from "./operator-command.ts";

/** The commands about the console in a browser. */
export const sessionCommands = {
  console: {
    usage: "console [--view]",
    purpose: "print a link that opens the console once within 5 minutes; --view makes it read-only",
    run: async ({ client, baseUrl, options: { view } }) => {
      const body = view === true ? ({ level: "view" } as const) : {};
      const answer = await client.createSessionCode({ body });
      if (!answer.ok) return answer;
      const url = formatConsoleLink(baseUrl, answer.body.code);
      return { ok: true, body: { ...answer.body, url }, blocks: [url] };
    },
  },
  sessions: {
    usage: "sessions | sessions end ID",
    purpose: "list the open sessions of the console, or end one",
    run: async ({ client, args }) => {
      const [act, sessionId = ""] = args;
      if (act === "end") {
        const ended = await client.revokeConsoleSession({ params: { sessionId } });
        if (!ended.ok) return ended;
        return { ok: true, body: ended.body, blocks: [`${sessionId} has ended`] };
      }
      const answer = await client.listConsoleSessions();
      if (!answer.ok) return answer;
      const rows = answer.body.sessions.map((session) => [
        session.session_id,
        session.level,
        session.opened_by,
        formatTime(session.opened_at),
        formatTime(session.renewed_at),
        formatTime(session.expires_at),
      ]);
      const columns = [
        { title: "session", isId: true },
        { title: "level" },
        { title: "opened by" },
        { title: "opened" },
        { title: "last seen" },
        { title: "ends" },
      ] as const;
      const table = { columns, rows, empty: "no session is open" };
      return { ok: true, body: answer.body, blocks: [table] };
    },
  },
} as const satisfies Record<string, OperatorCommand>;

/** The code is in the fragment, which browsers never send. */
export function formatConsoleLink(baseUrl: string, code: string): string {
  return `${baseUrl.replace(/\/+$/, "")}/console#code=${code}`;
}
