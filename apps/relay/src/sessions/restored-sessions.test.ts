import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  consoleEnv,
  createCode,
  openConsole,
  openSession,
  renewSession,
} from "../../test/agents/console-session.ts";
import { backUpStored, restoreStored } from "../../test/engine/backup.ts";
import { startTestRelay } from "../../test/test-relay.ts";

test("D23: a console session that was revoked after the backup does not return with a restored relay", async () => {
  const folder = mkdtempSync(join(tmpdir(), "relay-sessions-"));
  const [AGENT_DB_PATH, backup] = [join(folder, "relay.db"), join(folder, "backup.db")];
  let t = await startTestRelay({ AGENT_DB_PATH, ...consoleEnv });
  const { cookie, sessionId, token } = await openConsole(t);
  const { code } = (await createCode(t)).body;
  await backUpStored(AGENT_DB_PATH, backup);
  const path = `/api/v1/admin/console-sessions/${sessionId}`;
  expect((await t.asOperator("DELETE", path)).status).toBe(200);
  expect((await openSession(t, { code })).status).toBe(201);
  await t.close();

  await restoreStored(AGENT_DB_PATH, backup, t.clock.now());
  t = await startTestRelay({ AGENT_DB_PATH, ...consoleEnv }, 2, t.clock);
  const ended = { body: { code: "session.ended" } };
  expect(await renewSession(t, cookie)).toMatchObject(ended);
  expect(await t.request("GET", "/api/v1/admin/freeze", { token })).toMatchObject({ status: 401 });
  expect(await openSession(t, { code })).toMatchObject({ body: { code: "session.code_invalid" } });
  // The operator opens another one, while the restored relay is frozen.
  const opened = await openConsole(t);
  expect(await renewSession(t, opened.cookie)).toMatchObject({ status: 200 });
  await t.close();
  rmSync(folder, { recursive: true });
});
