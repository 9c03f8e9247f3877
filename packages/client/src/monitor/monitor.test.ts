import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalize, sha256Hex } from "@agent/crypto";
import {
  cosignHead,
  entryOf,
  formatTilePath,
  formatVerifierKey,
  hashNode,
  openCheckpoint,
  signCheckpoint,
} from "@agent/transparency";
import { ModelLog } from "@agent/transparency/model-log";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type LocalServer, startLocalServer } from "../testing/local-server.ts";
import { runMonitor } from "./command/run-monitor.node.ts";
import type { MonitorState } from "./monitor-state.ts";

const NOW = 1_790_000_500_000;
const KEY = "a".repeat(64);
const other = new ModelLog(7, { origin: "w.example" });
const { witness, witnessKey } = other.keys;

/** The answers of the server, which a test replaces to let the log lie. */
interface Site {
  log: ModelLog;
  checkpoint: () => string | null;
  latest: () => string | null;
  witnessed: () => string | null;
  tile: (path: string) => Uint8Array | undefined;
  /** The paths of the log that are answered with 503. */
  isBusy?: (path: string) => boolean;
  /** The address to which every path leads. */
  redirect?: string;
}

let folder: string;
let site: Site;
let server: LocalServer;

const settle = (task: string, payee = "other") =>
  entryOf.settlement({ task_id: task, payee_id: payee }, { time: 1 });

function fill(log: ModelLog, from: number, to: number): ModelLog {
  for (let index = from; index < to; index++) log.append(settle(`task ${index}`));
  return log;
}

function serve(log: ModelLog): Site {
  return {
    log,
    checkpoint: () => log.sign([witness]),
    latest: () => log.sign(),
    witnessed: () => log.sign([witness]),
    tile: (path) => log.readPath(path),
  };
}

const AGENT = "01890000-0000-7000-8000-00000000000a";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-monitor-"));
  site = serve(fill(new ModelLog(1), 0, 300));
  server = await startLocalServer(({ url }, response) => {
    const path = url.replace("/log/", "");
    if (url.startsWith("/log/") && site.isBusy?.(path)) {
      return void response.writeHead(503).end();
    }
    const text =
      path === "checkpoint"
        ? site.checkpoint()
        : path === "latest"
          ? site.latest()
          : path === `/witness/${sha256Hex("log.example")}/checkpoint`
            ? site.witnessed()
            : undefined;
    const bytes = text === undefined ? site.tile(path) : text;
    if (site.redirect !== undefined) {
      return void response.writeHead(302, { location: site.redirect }).end();
    }
    response.writeHead(bytes === undefined || bytes === null ? 404 : 200);
    response.end(bytes ?? undefined);
    return undefined;
  });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const stateFile = () => join(folder, "state.json");

async function monitor(args: readonly string[] = [], now = NOW) {
  let [out, err] = ["", ""];
  const common = Object.entries({
    "--log": formatVerifierKey(site.log.keys.logKey),
    "--url": `${server.baseUrl}/log`,
  })
    .filter(([name]) => !args.includes(name))
    .flat();
  const exitCode = await runMonitor([...common, "--state", stateFile(), ...args], {
    out: (text) => (out += text),
    err: (text) => (err += text),
    now: () => now,
  });
  return { exitCode, out, err };
}

const withWitness = () => [
  "--witness",
  `${formatVerifierKey(witnessKey)} ${server.baseUrl}/witness`,
  "--quorum",
  "1",
];

/** Another history with the same key, which differs from entry 5 on. */
function fork(size: number): ModelLog {
  const forked = fill(new ModelLog(1), 0, 5);
  forked.append(settle("rewritten"));
  return fill(forked, 6, size);
}

/** Serves the newer log with the hashes of the older one, of at most 256 entries, in its first tile. */
function serveBoth(older: ModelLog, newer: ModelLog): Site {
  const hashes = older.readPath(formatTilePath(0, 0, older.size))!;
  return {
    ...serve(newer),
    tile(path) {
      const bytes = newer.readPath(path);
      const isFirst = path.startsWith("tile/0/000") && bytes !== undefined;
      return isFirst ? new Uint8Array([...hashes, ...bytes.slice(hashes.length)]) : bytes;
    },
  };
}

async function readState() {
  const text = await readFile(stateFile(), "utf8").catch(() => "{}");
  return { checkpoint: null, unproven: [], ...(JSON.parse(text) as Partial<MonitorState>) };
}

/** Expects an alarm that leaves the checked head as it was. */
async function expectAlarm(code: string, args: readonly string[] = []) {
  const { checkpoint } = await readState();
  const { exitCode, out } = await monitor(args);
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: expect.stringContaining(code) as string });
  expect((await readState()).checkpoint).toBe(checkpoint);
}

/** Returns the sizes of the two checkpoints that were kept last. */
async function readEvidenceSizes() {
  const lines = (await readFile(`${stateFile()}.evidence`, "utf8")).trim().split("\n");
  const { evidence } = JSON.parse(lines.at(-1)!) as { evidence: string[] };
  return evidence.map((note) => {
    const opened = openCheckpoint(note, { logKey: site.log.keys.logKey });
    return opened.ok && opened.head.size;
  });
}

describe("agent-monitor on an honest log", () => {
  it("agent-monitor reports nothing, and stores the head in a file that only its owner can read", async () => {
    expect(await monitor(withWitness())).toMatchObject({
      exitCode: 0,
      out: "quiet at 300 entries\n",
    });
    expect((await stat(stateFile())).mode & 0o777).toBe(0o600);
    fill(site.log, 300, 700);
    expect(await monitor(withWitness())).toMatchObject({
      exitCode: 0,
      out: "quiet at 700 entries\n",
    });
    expect(await monitor()).toMatchObject({ exitCode: 0 });
  });

  it("agent-monitor reads only the entries that are new", async () => {
    await monitor();
    fill(site.log, 300, 600);
    const before = server.received.length;
    await monitor();
    const paths = server.received.slice(before).map(({ url }) => url);
    expect(paths.filter((url) => url.includes("/entries/"))).toEqual([
      "/log/tile/entries/001",
      "/log/tile/entries/002.p/88",
    ]);
  });

  it("agent-monitor can begin with an empty log", async () => {
    site = serve(new ModelLog(1));
    expect(await monitor()).toMatchObject({ exitCode: 0, out: "quiet at 0 entries\n" });
    fill(site.log, 0, 3);
    expect(await monitor()).toMatchObject({ exitCode: 0, out: "quiet at 3 entries\n" });
  });

  it("agent-monitor reports an unknown receipt and an unknown settlement once", async () => {
    site.log.append(entryOf.receipt({ agent_id: AGENT }, { time: 1, publicKey: KEY, ref: "t" }));
    site.log.append(settle("strange", AGENT));
    const watch = ["--agent", AGENT, "--key", KEY];
    const first = await monitor(watch);
    expect(first).toMatchObject({ exitCode: 1 });
    expect(first.out).toContain("monitor.unknown_receipt at index 300: --known does not list");
    expect(first.out).toContain("monitor.unknown_settlement at index 301: --known lists no");
    expect(await monitor(watch)).toMatchObject({ exitCode: 0 });
  });

  it("agent-monitor reports a second settlement of a known task in a later round", async () => {
    const known = join(folder, "known.txt");
    await writeFile(known, `# mine\nmine\n`);
    site.log.append(settle("mine", AGENT));
    expect(await monitor(["--agent", AGENT, "--known", known])).toMatchObject({ exitCode: 0 });
    site.log.append(settle("mine"));
    const again = await monitor(["--agent", AGENT, "--known", known, "--json"]);
    expect(again.exitCode).toBe(1);
    expect(JSON.parse(again.out)).toEqual({ code: "monitor.twice", index: 301 });
  });

  it.each([300, 17_000])(
    "TL11 agent-monitor reports a second settlement of a task whose receipt is in a later bundle, in %i entries",
    async (size) => {
      const receipt = { agent_id: AGENT };
      const known = join(folder, "known.txt");
      await writeFile(known, `${sha256Hex(canonicalize(receipt))}\n`);
      const log = new ModelLog(1);
      log.append(settle("mine", "a thief"));
      fill(log, 1, size);
      log.append(entryOf.receipt(receipt, { time: 1, publicKey: KEY, ref: "mine" }));
      fill(log, size + 1, size + 300);
      log.append(settle("mine", AGENT));
      site = serve(log);
      const { exitCode, out } = await monitor(["--agent", AGENT, "--key", KEY, "--known", known]);
      expect({ exitCode, out }).toEqual({
        exitCode: 1,
        out: expect.stringMatching(
          `^ALARM monitor.twice at index ${size + 300}: [^\n]*\n$`,
        ) as string,
      });
      const paths = server.received.map(({ url }) => url);
      const readTwice = paths.filter(
        (url, at) => paths.indexOf(url) < at && url.includes("entries"),
      );
      expect(readTwice).toHaveLength(Math.max(0, Math.ceil(log.size / 256) - 64));
    },
  );

  it("agent-monitor reports a published head that stays behind, whatever time its witness states", async () => {
    site.checkpoint = () => site.log.sign([witness], 200, 4_000_000_000);
    await monitor(withWitness(), NOW);
    const late = await monitor(withWitness(), NOW + 3_600_001);
    expect(late).toMatchObject({ exitCode: 1, out: "ALARM monitor.stale\n" });
  });

  it("agent-monitor reports a published head that stays behind for more than an hour", async () => {
    site.checkpoint = () => site.log.sign([], 200);
    expect(await monitor()).toMatchObject({ exitCode: 0 });
    expect(await monitor([], NOW + 3_600_000)).toMatchObject({ exitCode: 0 });
    const late = await monitor([], NOW + 3_600_001);
    expect(late).toMatchObject({ exitCode: 1, out: "ALARM monitor.stale\n" });
    site.latest = site.checkpoint;
    expect(await monitor([], NOW + 7_200_000)).toMatchObject({ exitCode: 0 });
  });
});

describe("agent-monitor on a lying log", () => {
  it("agent-monitor reports a log that went back, with both checkpoints as evidence", async () => {
    await monitor();
    site.checkpoint = () => site.log.sign([], 200);
    await expectAlarm("monitor.rolled_back");
    expect(await readEvidenceSizes()).toEqual([300, 200]);
  });

  it.each([300, 301, 700])("agent-monitor reports another history of %i entries", async (size) => {
    await monitor();
    site = serve(fork(size));
    await expectAlarm("monitor.split_view");
  });

  it("agent-monitor reports a witness that saw another log, whatever its size", async () => {
    for (const size of [300, 200, 400]) {
      const lie = fork(size);
      site.witnessed = () => lie.sign([witness]);
      await expectAlarm("monitor.split_view", withWitness());
      expect(await readEvidenceSizes()).toEqual([Math.min(size, 300), Math.max(size, 300)]);
      await rm(stateFile());
    }
  });

  it("TL12 agent-monitor reports a rewritten log whose tiles lead to the checked root as well as to the new one", async () => {
    site = serve(fill(new ModelLog(1), 0, 200));
    await monitor();
    const grown = fill(new ModelLog(1), 0, 250);
    site = serveBoth(site.log, grown);
    expect(await monitor()).toMatchObject({ exitCode: 0 });
    site = serveBoth(grown, fork(300));
    await expectAlarm("monitor.split_view");
    expect(await readEvidenceSizes()).toEqual([250, 300]);
  });

  it("TL12 agent-monitor reports a witness that saw another log, although the tiles lead to both roots", async () => {
    const lie = fork(200);
    site = { ...serveBoth(lie, site.log), witnessed: () => lie.sign([witness]) };
    await expectAlarm("monitor.split_view", withWitness());
    expect(await readEvidenceSizes()).toEqual([200, 300]);
  });

  it("TL12 agent-monitor reports two heads that both begin with the published one and continue differently", async () => {
    const published = site.log.sign([witness]);
    const lie = fill(new ModelLog(1), 0, 300);
    lie.append(settle("another"));
    fill(lie, 301, 310);
    fill(site.log, 300, 320);
    const { tile } = site;
    site = {
      ...site,
      checkpoint: () => published,
      witnessed: () => lie.sign([witness]),
      tile: (path) => (path.endsWith("tile/0/001.p/54") ? lie.readPath(path) : tile(path)),
    };
    await expectAlarm("monitor.split_view", withWitness());
    expect(await readEvidenceSizes()).toEqual([310, 320]);
  });

  it("agent-monitor ignores a witness that shows a head that the log did not sign", async () => {
    const stranger = fill(new ModelLog(9), 0, 300);
    site.witnessed = () => stranger.sign([witness]);
    expect(await monitor(withWitness())).toMatchObject({ exitCode: 0 });
    site.witnessed = () => null;
    expect(await monitor(withWitness())).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ["a changed hash of a tile", "tile/1/000.p/1"],
    ["a changed entry", "tile/entries/000"],
    ["a changed hash at the edge", "tile/0/001.p/44"],
  ])("agent-monitor reports %s", async (_, path) => {
    const honest = site.tile;
    site.tile = (asked) => {
      const bytes = honest(asked);
      return asked === path ? bytes?.with(20, bytes[20]! ^ 1) : bytes;
    };
    await expectAlarm("monitor.bad_tile");
  });

  it("agent-monitor reports tiles that are missing, too short or endless", async () => {
    for (const bytes of [undefined, new Uint8Array(32), new Uint8Array(1_000_000)]) {
      site.tile = () => bytes;
      await expectAlarm("monitor.bad_tile");
    }
  });

  it("TL7 agent-monitor reports a made-up root of 2^52 entries after one bundle, however many the log serves", async () => {
    const size = 2 ** 52;
    const hash = new Uint8Array(32).fill(3);
    const top = new Uint8Array(16 * 32).fill(7);
    const pairs = (hashes: readonly Uint8Array[]): Uint8Array =>
      hashes.length === 1
        ? hashes[0]!
        : pairs(
            Array.from({ length: hashes.length / 2 }, (_, at) =>
              hashNode(hashes[2 * at]!, hashes[2 * at + 1]!),
            ),
          );
    const root = pairs(Array.from({ length: 16 }, (_, at) => top.slice(at * 32, at * 32 + 32)));
    const { keys } = site.log;
    const note = signCheckpoint({ origin: keys.origin, size, root }, keys.secretKey);
    const bundle = site.log.readPath("tile/entries/000");
    site.checkpoint = site.latest = () => note;
    site.tile = (path) => {
      if (path.includes("/entries/")) return bundle;
      if (path.startsWith("tile/6/")) return top;
      return new Uint8Array(256 * 32).fill(hash[0]!);
    };
    const before = server.received.length;
    await expectAlarm("monitor.bad_tile");
    expect(server.received.length - before).toBeLessThan(30);
  });

  it.each([
    ["a note above 64 KiB", "monitor.bad_tile", () => "a".repeat(1_000_000)],
    ["64 KiB without signatures", "log.malformed", () => "a\n".repeat(32_000)],
    [
      "a size of 2^53",
      "log.malformed",
      () => site.log.sign().replace("\n300\n", "\n9007199254740992\n"),
    ],
    [
      "65 signature lines",
      "log.malformed",
      () => site.log.sign() + site.log.sign().split("\n\n")[1]!.repeat(64),
    ],
  ])("agent-monitor reports %s as a head", async (_, code, note) => {
    await monitor();
    site.checkpoint = note;
    const { exitCode, out } = await monitor();
    expect({ exitCode, out }).toEqual({
      exitCode: 1,
      out: `ALARM ${code}\n`,
    });
  });

  it("TL7 agent-monitor follows no redirect, and treats a log that redirects as one that cannot be reached", async () => {
    await monitor();
    site.redirect = `${server.baseUrl}/elsewhere`;
    expect(await monitor()).toMatchObject({ exitCode: 3 });
    expect(server.received.map(({ url }) => url)).not.toContain("/elsewhere");
  });

  it("TL7 agent-monitor ignores a witness that answers without end, redirects or shows another log", async () => {
    for (const answer of ["a".repeat(1_000_000), other.sign(), ""]) {
      site.witnessed = () => answer;
      expect(await monitor(withWitness())).toMatchObject({ exitCode: 0 });
    }
  });

  it("TL7 agent-monitor keeps its state when a log enters thousands of keys for a watched agent", async () => {
    for (let count = 0; count < 12_000; count++) {
      const binding = { agent_id: AGENT, public_key: KEY, device_id: null, valid_from: count };
      site.log.append(entryOf.keyBound(binding, { time: 1 }));
    }
    const { exitCode, out } = await monitor(["--agent", AGENT]);
    expect(exitCode).toBe(1);
    expect(out.trim().split("\n")).toHaveLength(10_000);
  });

  it("agent-monitor reports a head that is unsigned, of another log, or cosigned by too few witnesses", async () => {
    site.checkpoint = () => "no note\n";
    await expectAlarm("log.malformed");
    site.checkpoint = () => fill(new ModelLog(9), 0, 3).sign();
    await expectAlarm("log.key_unknown");
    site.checkpoint = () => site.log.sign();
    await expectAlarm("log.quorum_missing", withWitness());
    const head = { origin: "log.example", size: 1, root: new Uint8Array(32) };
    site.checkpoint = () => site.log.sign() + cosignHead(head, witness, 1);
    await expectAlarm("log.cosignature_invalid", withWitness());
  });

  it("agent-monitor reports a latest head that contradicts the published one", async () => {
    const lie = fork(300);
    site.latest = () => lie.sign();
    await expectAlarm("monitor.split_view");
  });
});

describe("agent-monitor on a log that stops answering", () => {
  it("TL10 agent-monitor reports two heads of one size, whatever the log answers", async () => {
    const lie = fork(300);
    site.witnessed = () => lie.sign([witness]);
    site.isBusy = (path) => path.startsWith("tile/");
    for (let round = 0; round < 2; round++) {
      await expectAlarm("monitor.split_view", withWitness());
      expect(await readEvidenceSizes()).toEqual([300, 300]);
    }
    // Both heads are kept, so a witness that falls silent changes nothing.
    site.isBusy = () => true;
    site.witnessed = () => null;
    await expectAlarm("monitor.split_view", withWitness());
  });

  it("TL10 agent-monitor reports a witness that contradicts the stored head when the log answers nothing", async () => {
    await monitor();
    const lie = fork(300);
    site.witnessed = () => lie.sign([witness]);
    site.isBusy = () => true;
    await expectAlarm("monitor.split_view", withWitness());
  });

  it.each([
    ["a first round", 0],
    ["a later round", 1],
  ])(
    "TL10 agent-monitor keeps a head that %s did not find in the tree until the log answers again",
    async (_, rounds) => {
      if (rounds > 0) await monitor();
      const lie = fork(310);
      site.witnessed = () => lie.sign([witness]);
      site.isBusy = (path) => path.startsWith("tile/");
      expect(await monitor(withWitness())).toMatchObject({ exitCode: 3 });
      fill(site.log, 300, 400);
      site.isBusy = () => false;
      site.witnessed = () => site.log.sign([witness]);
      await expectAlarm("monitor.split_view", withWitness());
      expect(await readEvidenceSizes()).toEqual([310, 400]);
    },
  );

  it("TL10 agent-monitor reports nothing about an honest log that can be reached again, and keeps no head of it", async () => {
    site.witnessed = () => site.log.sign([witness], 200);
    site.isBusy = (path) => path.startsWith("tile/");
    expect(await monitor(withWitness())).toMatchObject({ exitCode: 3 });
    expect((await readState()).unproven).toHaveLength(2);
    site.isBusy = () => false;
    expect(await monitor(withWitness())).toMatchObject({ exitCode: 0 });
    expect(await readState()).toMatchObject({ checkpoint: site.checkpoint(), unproven: [] });
  });

  it("TL10 agent-monitor reports a latest head of another history before it is published", async () => {
    const lie = fork(310);
    site.latest = () => lie.sign();
    await expectAlarm("monitor.split_view");
  });

  it("agent-monitor reports a log without a head as rolled back once it has shown one, and not before", async () => {
    site.checkpoint = () => null;
    expect(await monitor()).toMatchObject({
      exitCode: 3,
      err: expect.stringContaining("no checkpoint (status 404)") as string,
    });
    site.checkpoint = () => site.log.sign();
    expect(await monitor()).toMatchObject({ exitCode: 0 });
    site.checkpoint = () => null;
    await expectAlarm("monitor.rolled_back");
  });

  it.each([
    ["is not answered", { isBusy: (path: string) => path === "latest" }, 3],
    ["is no note", { latest: () => "no note\n" }, 1],
  ])(
    "TL13 agent-monitor reports the entries that it has read exactly once, although the latest head %s",
    async (_, answers, exitCode) => {
      site.log.append(entryOf.receipt({ agent_id: AGENT }, { time: 1, publicKey: KEY, ref: "t" }));
      site = { ...site, ...answers };
      const first = await monitor(["--agent", AGENT]);
      expect(first.exitCode).toBe(1);
      expect(first.out).toMatch(/^ALARM monitor\.unknown_receipt at index 300: [^\n]*\n/);
      const second = await monitor(["--agent", AGENT]);
      expect(second.exitCode).toBe(exitCode);
      expect(second.out).not.toContain("unknown_receipt");
    },
  );
});

describe("agent-monitor without a log", () => {
  it("agent-monitor exits with 3 when the log cannot be reached, and keeps its state", async () => {
    await monitor();
    const before = await readFile(stateFile(), "utf8");
    site.isBusy = () => true;
    expect(await monitor()).toMatchObject({
      exitCode: 3,
      err: expect.stringContaining("cannot be read: status 503") as string,
    });
    await server[Symbol.asyncDispose]();
    expect(await monitor()).toMatchObject({
      exitCode: 3,
      err: expect.stringContaining("cannot be read: no answer") as string,
    });
    expect(await readFile(stateFile(), "utf8")).toBe(before);
  });

  it("agent-monitor continues from the state of an earlier version that kept no heads missing from the tree", async () => {
    await monitor();
    const { unproven: _, ...older } = await readState();
    await writeFile(stateFile(), JSON.stringify(older));
    expect(await monitor()).toMatchObject({ exitCode: 0 });
    site.checkpoint = () => site.log.sign([], 200);
    await writeFile(stateFile(), JSON.stringify(older));
    await expectAlarm("monitor.rolled_back");
  });

  it("agent-monitor exits with 2 for a state that is unreadable or of another log, and changes nothing", async () => {
    for (const text of ["", "{}", '{"log":"x","checkpoint":"","first_seen_at":0,"seen":[]}']) {
      await writeFile(stateFile(), text);
      expect(await monitor()).toMatchObject({ exitCode: 2 });
      expect(await readFile(stateFile(), "utf8")).toBe(text);
    }
  });

  it.each([
    { scanned: -5 },
    { scanned: 1_000_000 },
    { checkpoint: null },
    { checkpoint: "junk" },
    { unproven: ["junk"] },
  ])(
    "agent-monitor names the file of a state that was damaged by %j, and raises no alarm",
    async (damage) => {
      await monitor();
      const text = JSON.stringify({ ...(await readState()), ...damage });
      await writeFile(stateFile(), text);
      expect(await monitor()).toMatchObject({
        exitCode: 2,
        out: "",
        err: `agent-monitor: ${stateFile()}: is not a monitor state file\n`,
      });
      expect(await readFile(stateFile(), "utf8")).toBe(text);
    },
  );

  it.each([
    [["--log", "none"], "--log takes"],
    [["--url", "ftp://x"], "--url takes"],
    [["--url", "http://x/"], "--url takes"],
    [["--key", "A".repeat(64)], "--key takes"],
    [["--agent", "word-counter"], "--agent takes"],
    [["--agent", "01890000-0000-7000-8000-00000000000A"], "--agent takes"],
    [["--witness", "none"], "--witness takes"],
    [["--quorum", "1"], "--quorum takes"],
    [["--unknown"], "unknown"],
  ])("agent-monitor exits with 2 for the wrong usage %j", async (args, text) => {
    const { exitCode, err } = await monitor(args);
    expect(exitCode).toBe(2);
    expect(err).toContain(text);
    expect(err.split("\n").slice(1)).toEqual(["try agent-monitor --help", ""]);
  });

  it.each<[string[], number, string, string]>([
    [["--quorum=0", "--quorum=0"], 2, "command.invalid", "--quorum is given twice"],
    [["stray"], 2, "command.invalid", '"stray" is an argument too many'],
    [["--known=/missing/file"], 2, "command.invalid", "ENOENT"],
    [["--url", "http://127.0.0.1:1/log"], 3, "monitor.unreachable", "cannot be read: no answer"],
  ])(
    "OP19: agent-monitor prints one line of JSON if it checked nothing, as after %j",
    async (args, code, name, message) => {
      const { exitCode, out, err } = await monitor([...args, "--json"]);
      expect([exitCode, err]).toEqual([code, expect.stringContaining(message)]);
      expect(out.trim().split("\n")).toHaveLength(1);
      expect(JSON.parse(out)).toMatchObject({
        code: name,
        message: expect.stringContaining(message) as string,
      });
      // Only a quiet log has no line, and people read the other output.
      expect(await monitor(["--json"])).toMatchObject({ exitCode: 0, out: "" });
      expect((await monitor(args)).out).toBe("");
    },
  );
});
