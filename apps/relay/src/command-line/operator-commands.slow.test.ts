import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { endRelays, minimalEnv, startRelay } from "../../test/processes/relay-process.ts";
import { OPERATOR_TOKEN } from "../../test/test-relay.ts";
import { operatorCommands } from "./operator-commands.ts";

// A start takes half a second of CPU, and the machine may be busy.
const folder = mkdtempSync(join(tmpdir(), "relay-commands-"));
let url: string;
beforeAll(async () => {
  url = await startRelay(minimalEnv).baseUrl;
}, 60_000);
afterAll(async () => {
  await endRelays();
  rmSync(folder, { recursive: true });
});

/** Runs the command in a process of its own. */
async function run(args: readonly string[], env: Record<string, string> = {}) {
  const command = startRelay(
    { AGENT_RELAY_URL: url, AGENT_API_TOKEN: OPERATOR_TOKEN, ...env },
    { args, isExact: true },
  );
  const { code } = await command.ended;
  return { code, stdout: command.stdout(), stderr: command.stderr() };
}

describe("a command against a relay", () => {
  test("a command exits with 0 and prints for people, or one line of JSON", async () => {
    const shown = await run(["status"]);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toContain("state     running");
    expect(shown.stdout).not.toContain("\u001b");
    const { stdout } = await run(["status", "--json"]);
    expect(stdout.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ freeze: { frozen: false } });
  });

  test("a command exits with 1 when the relay refuses, and names the code", async () => {
    const { code, stderr } = await run(["task", "019b7d21-53eb-7ccd-926c-3badff397897"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /Task not found or expired \(task.not_found\)\n.*agent-relay tasks --json`.*\nrequest /,
    );
    const wrong = await run(["status"], { AGENT_API_TOKEN: "another-token-0123456789" });
    expect(wrong).toMatchObject({ code: 1 });
    expect(wrong.stderr).toContain("(auth.unknown_token)");
  });

  test("a freeze with an empty reason has no effect, and a deposit with too many words credits nothing", async () => {
    await run(["freeze", " "]);
    await run(["deposit", "01890000-0000-7000-8000-0000000000a7", "1", "000", "--reference", "r"]);
    const { stdout } = await run(["status", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ freeze: { frozen: false }, money: { balances: 0 } });
  });

  test("a command exits with 2 for a token that no header can carry, and does not show it", async () => {
    const { code, stderr } = await run(["status"], { AGENT_API_TOKEN: "secret\u20ac\ncanary" });
    expect(code).toBe(2);
    expect(stderr).not.toContain("canary");
  });

  test("a command exits with 3 when no relay answers, and names the address that it called", async () => {
    const { code, stderr } = await run(["status", "--relay", "http://127.0.0.1:1"]);
    expect(code).toBe(3);
    expect(stderr).toContain("http://127.0.0.1:1");
  });

  test.each([
    [["deposit", "agent"], "AMOUNT and --reference are missing"],
    [["deposit", "agent", "1,5", "--reference", "r"], "AMOUNT 1,5 must be USD"],
    [["deposit", "agent", "-5", "--reference", "r"], "an argument that begins with -5"],
    [["events", "--after", "-1"], "--after needs a value that does not begin with a dash"],
    [["migrate", "status"], '"status" is an argument too many'],
    [["check", "--stolen"], "check takes no --stolen"],
    [["backup"], "FILE is missing"],
    [["log"], "log is followed by restart"],
    [["dev", "now"], '"now" is an argument too many'],
    [["statement", "agent", "--csv", "--cursor", "c"], "statement --csv takes no --cursor"],
    [
      ["deposit", "agent", "1", "--reference", "a", "--reference", "b"],
      "--reference is given twice",
    ],
    [["deposit", "agent", "1"], "--reference is missing"],
    [["status", "--csv"], "status takes no --csv"],
    [["withdrawals", "complete"], "ID and --payout-reference are missing"],
    [["series", "speed"], "METRIC is one of"],
    [["deposit", "agent", "1", "000", "--reference", "r"], '"000" is an argument too many'],
    [["tasks", "failed"], '"failed" is an argument too many'],
    [["peers", "remove", "a", "b", "c"], '"b" is an argument too many'],
    [["freeze", ""], "the reason must not be empty"],
    [["status", "--relay", "nonsense"], '--relay must be an http or https address, not "nonsense"'],
    [["status", "--relay", "ftp://relay.example"], "must be an http or https address"],
    [["holds", "--older-than", "long"], "is a duration"],
  ])(
    "a command exits with 2 for %j and shows the usage of that command only",
    async (args, message) => {
      const { code, stdout, stderr } = await run(args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(message);
      expect(stderr.trim().split("\n")).toHaveLength(2);
    },
  );

  test("a command that follows events ends when its reader ends", async () => {
    const command = startRelay(
      { AGENT_RELAY_URL: url, AGENT_API_TOKEN: OPERATOR_TOKEN },
      { args: ["events", "--follow", "--after", "0"], isExact: true },
    );
    command.closeOutput();
    await run(["freeze", "an event"]);
    await run(["unfreeze"]);
    expect(await command.ended).toMatchObject({ signal: null });
    expect(command.stderr()).toBe("");
  });

  test("OP11: a token file that others may read is refused", async () => {
    const file = join(folder, "token");
    writeFileSync(file, `${OPERATOR_TOKEN}\n`);
    const env = { AGENT_API_TOKEN: "" };
    for (const mode of [0o644, 0o640, 0o604]) {
      chmodSync(file, mode);
      const { code, stdout, stderr } = await run(["status", "--token-file", file], env);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(`chmod 600 ${file}`);
      expect(stderr).not.toContain(OPERATOR_TOKEN);
    }
    chmodSync(file, 0o600);
    expect(await run(["status", "--token-file", file], env)).toMatchObject({ code: 0 });
    expect(await run(["status"], env)).toMatchObject({ code: 2 });
  });

  test("the command for the console prints a link with the code in its fragment", async () => {
    const { stdout } = await run(["console"]);
    expect(stdout).toMatch(new RegExp(`^${url}/console#code=[\\w-]{22}\\n$`));
  });
});

test("every command has a purpose, and its usage begins with its name", () => {
  for (const [name, { usage, purpose }] of Object.entries(operatorCommands)) {
    expect(usage.split(" ")[0]).toBe(name);
    expect(purpose).not.toBe("");
  }
  expect(Object.keys(operatorCommands)).toEqual(
    expect.arrayContaining(
      (
        "status agents tasks task accounts holds statement deposit withdrawals freeze unfreeze peers " +
        "outbox approvals events sessions console doctor"
      ).split(" "),
    ),
  );
});

test("dev starts a relay with sample work from an empty folder, and ends on Ctrl-C", async () => {
  const dev = startRelay({}, { args: ["dev"], isExact: true });
  await expect.poll(() => dev.stdout(), { timeout: 50_000 }).toContain("ask it: ");
  const [, baseUrl = "", token = ""] =
    /AGENT_RELAY_URL=(\S+) AGENT_API_TOKEN=(\S+)/.exec(dev.stdout()) ?? [];
  expect(dev.stdout()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console#code=[\w-]{22}\n/);
  const env = { AGENT_RELAY_URL: baseUrl, AGENT_API_TOKEN: token };
  const hasWork = async () => (await run(["tasks"], env)).stdout;
  await expect.poll(hasWork, { timeout: 40_000 }).toContain("completed");
  dev.kill("SIGINT");
  expect(await dev.ended).toEqual({ code: 0, signal: null });
  expect(dev.stderr()).toBe("");
}, 120_000);
