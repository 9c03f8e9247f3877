import type { CallRefusal, RelayClient } from "@agent/client";
import { limits, type Scope } from "@agent/wire";
import { renderUnicodeCompact } from "uqr";
import { sleep, type Runtime } from "../../runtime.ts";
import {
  buildPageUrl,
  buildPairingLink,
  formatDeviceName,
  formatFingerprint,
  isSecurePage,
} from "./format-pairing.ts";

/** The scopes of a browser: it reads and votes, and moves neither work nor money. */
const BROWSER_SCOPES: readonly Scope[] = [
  "task:read",
  "account:read",
  "credentials:read",
  "approvals:vote",
];

/** A relay counts 60 reads a minute of one address, and the agent itself reads as well. */
const POLL_MS = 2_000;

/** The person who pairs, at a terminal or at the end of a pipe. */
export interface PairingTerminal {
  readonly report: (line: string) => void;
  readonly ask: (question: string) => Promise<boolean>;
  /** Whether the lines are shown on a screen, to which a camera can be pointed. */
  readonly isScreen: boolean;
}

export interface PairingParts {
  readonly client: Pick<
    RelayClient,
    "initiatePairing" | "getPairing" | "approvePairing" | "denyPairing"
  >;
  readonly relayUrl: string;
  readonly runtime: Pick<Runtime, "now" | "schedule">;
  readonly terminal: PairingTerminal;
}

type PairingResult = { readonly ok: true } | CallRefusal;

/**
 * Pairs a browser with the agent: shows a code, waits for a claim, and lets the owner compare the
 * claimed key with the one on the browser's screen. Refused like the relay's operations of pairing.
 */
export async function pairBrowser(
  { client, relayUrl, runtime, terminal }: PairingParts,
  { withdrawals }: { readonly withdrawals: boolean },
): Promise<PairingResult> {
  const { report, ask } = terminal;
  const initiated = await client.initiatePairing({ body: {} });
  if (!initiated.ok) return initiated;
  const { pairing_id: pairingId, pairing_code: code } = initiated.body;
  showCode(relayUrl, code, terminal);

  const claimed = await waitForClaim(client, pairingId, runtime);
  if (!claimed.ok) return claimed;
  const { device_name, fingerprint, public_key, agent_id } = claimed.body;
  const scopes = withdrawals ? [...BROWSER_SCOPES, "account:write" as const] : [...BROWSER_SCOPES];
  report(`claimed by ${formatDeviceName(device_name ?? "")}`);
  report(`its key:  ${formatFingerprint(fingerprint ?? "")}`);
  report(`it would get:  ${scopes.join(" ")}`);

  if (!(await ask("Does the browser show the same key, and do you pair it?"))) {
    const denied = await client.denyPairing({ params: { pairingId } });
    if (!denied.ok) return denied;
    report("not paired");
    return { ok: true };
  }
  const approved = await approve(client, { pairingId, scopes }, runtime);
  if (!approved.ok) return approved;
  const { device_id } = approved;
  report(`paired as device ${device_id}`);
  report(`its votes count for agents that name it: ${JSON.stringify({ agent_id, public_key })}`);
  report(`end it:  agent-server unpair ${device_id}`);
  return { ok: true };
}

function showCode(relayUrl: string, code: string, { report, isScreen }: PairingTerminal): void {
  const link = buildPairingLink(relayUrl, code);
  report(`open in the browser:  ${link}`);
  report(`or type there:  ${code}  at ${buildPageUrl(relayUrl)}`);
  if (!isSecurePage(relayUrl)) {
    report("a browser makes keys over https or on its own machine only: use such an address");
  }
  if (isScreen) report(renderUnicodeCompact(link));
  report(`waiting for the browser, ${limits.pairingTtlMs / 60_000} minutes at most`);
}

/** Polls until the code is claimed or has expired; a short outage of the relay does not end this. */
async function waitForClaim(
  client: Pick<RelayClient, "getPairing">,
  pairingId: string,
  runtime: PairingParts["runtime"],
) {
  const { now } = runtime;
  const endsAt = now() + limits.pairingTtlMs;
  for (;;) {
    const read = await client.getPairing({ params: { pairingId } });
    if (read.ok && read.body.status !== "pending") return read;
    const isLater = now() < endsAt && (read.ok || isPassing(read));
    if (!isLater && !read.ok) return read;
    await sleep(runtime, POLL_MS);
  }
}

/**
 * Approves a claimed pairing. If the answer is lost, the browser may be a device already, and the owner must learn
 * its id to end it; so the pairing is read, and approved again if it is still open.
 */
async function approve(
  client: Pick<RelayClient, "approvePairing" | "getPairing">,
  { pairingId, scopes }: { readonly pairingId: string; readonly scopes: Scope[] },
  runtime: PairingParts["runtime"],
): Promise<{ readonly ok: true; readonly device_id: string } | CallRefusal> {
  const params = { pairingId };
  const endsAt = runtime.now() + limits.pairingTtlMs;
  for (;;) {
    const approved = await client.approvePairing({ params, body: { scopes } });
    if (approved.ok) return { ok: true, device_id: approved.body.device_id };
    if (!isPassing(approved) && approved.code !== "pairing.resolved") return approved;
    const read = await client.getPairing({ params });
    if (read.ok && read.body.device_id !== null) {
      return { ok: true, device_id: read.body.device_id };
    }
    if (!isPassing(approved) || runtime.now() >= endsAt) return approved;
    await sleep(runtime, POLL_MS);
  }
}

/**
 * Returns whether a refusal is likely to pass: the relay was unreachable, a proxy answered instead, or the
 * relay asks to wait.
 */
function isPassing({ code }: CallRefusal): boolean {
  return PASSING_KINDS.has(code.split(".")[0] ?? "") || code === "rate.exceeded";
}

const PASSING_KINDS: ReadonlySet<string> = new Set(["network", "response", "server"]);
