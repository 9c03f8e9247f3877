import {
  createPresentation,
  CREDENTIAL_LIMITS,
  issueCredential,
  parseCredential,
  verifyCredentialAsync,
  type VerifiableCredential,
} from "@agent/credentials";
import { calculateGradient } from "../../gradient/gradient.ts";
import type { Counts } from "../../gradient/counts.ts";
import type { Identity } from "../../identity/identity.ts";
import type { Runtime } from "../../runtime.ts";
import type { CredentialSource } from "../../tools/built-in/agent-credentials.ts";
import type { Membership } from "./join-relay.ts";

export interface AgentCredentials extends CredentialSource {
  /** Issues the gradient credential of a housekeeping cycle; it is valid longer than the cycle. */
  issueGradient(counts: Counts, cycleMs: number): void;
  /** Submits the newest one to the relay, which presents it to others. */
  submitCredentials(): Promise<void>;
  /** Returns the value of the newest gradient credential; null before the first one. */
  gradient(): number | null;
}

interface TimedCredential {
  readonly credential: VerifiableCredential;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** Caches the relay's answer, because any caller may call the tool that presents credentials. */
const CACHE_TTL_MS = 60_000;

/**
 * Creates the source of an agent's credentials: its own, issued here, and those of others, stored
 * by its relay.
 */
export function createAgentCredentials(parts: {
  identity: Identity;
  membership: () => Membership | undefined;
  runtime: Runtime;
}): AgentCredentials {
  const { identity, membership, runtime } = parts;
  const { agentId, did, secretKey } = identity;
  let ownCredential: (TimedCredential & { readonly gradient: number }) | undefined;
  let lastFetch: { readonly until: number; readonly answer: Promise<void> } | undefined;
  // The relay's last answer, used while it cannot be reached.
  let receivedCredentials: readonly TimedCredential[] = [];

  /**
   * Fetches the newest credential of each issuer and type; the relay renews those that it issued.
   */
  async function fetchCredentials({ client }: Membership): Promise<void> {
    const answer = await client.presentCredentials({ params: { agentId }, query: {}, body: {} });
    if (answer.ok)
      receivedCredentials = await filterValid(parsePresented(answer.body.presentation));
    else if (answer.code === "credential.not_found") receivedCredentials = [];
    else runtime.log("warn", "credentials.not_fetched", { code: answer.code });
  }

  async function refresh(): Promise<void> {
    const current = membership();
    if (current === undefined) return;
    const now = runtime.now();
    if (lastFetch === undefined || lastFetch.until <= now) {
      lastFetch = { until: now + CACHE_TTL_MS, answer: fetchCredentials(current) };
    }
    await lastFetch.answer;
  }

  /** Filters the currently valid credentials about this agent; every verifier checks them again. */
  async function filterValid(shown: readonly VerifiableCredential[]): Promise<TimedCredential[]> {
    const now = runtime.now();
    const about = shown.filter(({ credentialSubject }) => credentialSubject.id === did);
    const verdicts = await Promise.all(about.map((one) => verifyCredentialAsync(one, { now })));
    return about.filter((_, index) => verdicts[index]?.valid).map(withExpiry);
  }

  return {
    issueGradient(counts, cycleMs) {
      const now = runtime.now();
      const figures = calculateGradient(counts);
      const credential = issueCredential({
        type: "AgentGradientCredential",
        subject: { id: did, ...figures, measured_at: now },
        secretKey,
        now,
        validForMs: Math.max(CREDENTIAL_LIMITS.defaultValidityMs, 2 * cycleMs),
        randomBytes: runtime.randomBytes(10),
      });
      ownCredential = { ...withExpiry(credential), gradient: figures.gradient };
    },
    async submitCredentials() {
      const client = membership()?.client;
      if (client === undefined || ownCredential === undefined) return;
      const body = { credentials: [{ ...ownCredential.credential }] };
      const answer = await client.submitCredentials({ params: { agentId }, body });
      if (!answer.ok) runtime.log("warn", "credentials.not_taken", { code: answer.code });
    },
    gradient: () => ownCredential?.gradient ?? null,
    async present() {
      await refresh();
      const now = runtime.now();
      const credentials = (
        ownCredential === undefined ? receivedCredentials : [ownCredential, ...receivedCredentials]
      )
        .filter(({ expiresAt }) => now < expiresAt)
        .map(({ credential }) => credential)
        .slice(0, CREDENTIAL_LIMITS.maxCredentials);
      if (credentials.length === 0) return { ok: false, error: "This agent has no credentials" };
      return { ok: true, presentation: { ...createPresentation({ credentials, secretKey, now }) } };
    },
  };
}

function withExpiry(credential: VerifiableCredential): TimedCredential {
  const { validUntil } = credential;
  return { credential, expiresAt: validUntil === undefined ? Infinity : Date.parse(validUntil) };
}

/**
 * Parses the relay's presentation without gradient credentials, because the relay may have an older
 * one.
 */
function parsePresented(presentation: Readonly<Record<string, unknown>>): VerifiableCredential[] {
  const { verifiableCredential: presented } = presentation;
  if (!Array.isArray(presented)) return [];
  return presented.flatMap((value: unknown) => {
    const parsed = parseCredential(value);
    if (!parsed.ok || parsed.credential.type.includes("AgentGradientCredential")) return [];
    return [parsed.credential];
  });
}
