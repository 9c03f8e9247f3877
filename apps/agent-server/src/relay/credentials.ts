import {
  createPresentation,
  CREDENTIAL_LIMITS,
  issueCredential,
  parseCredential,
  verifyCredentialAsync,
  type VerifiableCredential,
} from "@agent/credentials";
import { gradientOf } from "../gradient/gradient.ts";
import type { Counts } from "../gradient/counts.ts";
import type { Identity } from "../identity.ts";
import type { Runtime } from "../runtime.ts";
import type { CredentialSource } from "../tools/agent-credentials.ts";
import type { Membership } from "./join.ts";

export interface CredentialKeeper extends CredentialSource {
  /** Issues the gradient credential of a housekeeping cycle, which outlasts the cycle. */
  issueGradient(counts: Counts, cycleMs: number): void;
  /** Gives the newest one to the relay, which shows it to those who ask there. */
  handIn(): Promise<void>;
  /** As in the newest gradient credential; null before the first one. */
  gradient(): number | null;
}

interface Shown {
  readonly credential: VerifiableCredential;
  /** Milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

/** A tool that anybody may call does not make the agent ask its relay each time. */
const rememberedMs = 60_000;

/** What is said of an agent: its own word, made here, and that of others, which its relay keeps. */
export function createCredentialKeeper(parts: {
  identity: Identity;
  membership: () => Membership | undefined;
  runtime: Runtime;
}): CredentialKeeper {
  const { identity, membership, runtime } = parts;
  const { agentId, did, secretKey } = identity;
  let own: (Shown & { readonly gradient: number }) | undefined;
  let asked: { readonly until: number; readonly answer: Promise<void> } | undefined;
  // The last that the relay gave, for as long as it cannot be asked.
  let others: readonly Shown[] = [];

  /** At its relay: the newest of each issuer and type, those that the relay issued renewed. */
  async function ask({ client }: Membership): Promise<void> {
    const answer = await client.presentCredentials({ params: { agentId }, query: {}, body: {} });
    if (answer.ok) others = await held(shownIn(answer.body.presentation));
    else if (answer.code === "credential.not_found") others = [];
    else runtime.log("warn", "credentials.not_fetched", { code: answer.code });
  }

  async function refresh(): Promise<void> {
    const home = membership();
    if (home === undefined) return;
    const now = runtime.now();
    if (asked === undefined || asked.until <= now) {
      asked = { until: now + rememberedMs, answer: ask(home) };
    }
    await asked.answer;
  }

  /** Those that hold now and are about this agent; who is shown them looks again. */
  async function held(shown: readonly VerifiableCredential[]): Promise<Shown[]> {
    const now = runtime.now();
    const about = shown.filter(({ credentialSubject }) => credentialSubject.id === did);
    const verdicts = await Promise.all(about.map((one) => verifyCredentialAsync(one, { now })));
    return about.filter((_, index) => verdicts[index]?.valid).map(withEnd);
  }

  return {
    issueGradient(counts, cycleMs) {
      const now = runtime.now();
      const figures = gradientOf(counts);
      const credential = issueCredential({
        type: "AgentGradientCredential",
        subject: { id: did, ...figures, measured_at: now },
        secretKey,
        now,
        validForMs: Math.max(CREDENTIAL_LIMITS.defaultValidityMs, 2 * cycleMs),
        randomBytes: runtime.randomBytes(10),
      });
      own = { ...withEnd(credential), gradient: figures.gradient };
    },
    async handIn() {
      const client = membership()?.client;
      if (client === undefined || own === undefined) return;
      const body = { credentials: [{ ...own.credential }] };
      const answer = await client.submitCredentials({ params: { agentId }, body });
      if (!answer.ok) runtime.log("warn", "credentials.not_taken", { code: answer.code });
    },
    gradient: () => own?.gradient ?? null,
    async present() {
      await refresh();
      const now = runtime.now();
      const credentials = (own === undefined ? others : [own, ...others])
        .filter(({ endsAt }) => now < endsAt)
        .map(({ credential }) => credential)
        .slice(0, CREDENTIAL_LIMITS.maxPresented);
      if (credentials.length === 0) return { ok: false, error: "This agent has no credentials" };
      return { ok: true, presentation: { ...createPresentation({ credentials, secretKey, now }) } };
    },
  };
}

function withEnd(credential: VerifiableCredential): Shown {
  const { validUntil } = credential;
  return { credential, endsAt: validUntil === undefined ? Infinity : Date.parse(validUntil) };
}

/** The gradient is left to the agent itself: the relay may have an older one. */
function shownIn(presentation: Readonly<Record<string, unknown>>): VerifiableCredential[] {
  const { verifiableCredential: shown } = presentation;
  if (!Array.isArray(shown)) return [];
  return shown.flatMap((value: unknown) => {
    const parsed = parseCredential(value);
    if (!parsed.ok || parsed.credential.type.includes("AgentGradientCredential")) return [];
    return [parsed.credential];
  });
}
