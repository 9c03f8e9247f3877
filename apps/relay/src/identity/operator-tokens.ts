import { hash, timingSafeEqual } from "node:crypto";
import { looksLikeToken } from "@agent/client";
import type { OperatorCaller } from "./caller.ts";

/** The operator's bearer tokens: one, or two while one replaces the other (docs/decisions.md, 2). */
export interface OperatorTokens {
  /**
   * Returns the caller that a bearer authenticates, or undefined when it matches no token. A caller that
   * knows the answer of `looksLikeToken` for the bearer passes it as `looksSigned`.
   */
  find(bearer: string, looksSigned?: boolean): OperatorCaller | undefined;
  /** Returns the signal of the removal of the token with this tag; undefined if no current one has it. */
  removalOf(tag: string): AbortSignal | undefined;
  /** Replaces the current tokens, and ends streams and sockets that a removed token opened. */
  replace(tokens: readonly string[]): void;
}

interface KnownToken {
  readonly digest: Buffer;
  readonly looksSigned: boolean;
  readonly caller: OperatorCaller;
  readonly removal: AbortController;
}

const hashToken = (text: string) => hash("sha256", text, "buffer");

export function createOperatorTokens(tokens: readonly string[]): OperatorTokens {
  let known: readonly KnownToken[] = tokens.map((token, index) =>
    createKnownToken(
      hashToken(token),
      looksLikeToken(token),
      formatTokenName(index, tokens.length),
    ),
  );

  return {
    find(bearer, looksSigned = looksLikeToken(bearer)) {
      // Most bearers are agents' tokens, and their outline shows it without hashing.
      if (known.every((token) => token.looksSigned !== looksSigned)) return undefined;
      // Both sides are hashed and every token is compared, so that timing reveals neither content nor position.
      const digest = hashToken(bearer);
      const matches = known.filter((token) => timingSafeEqual(digest, token.digest));
      return matches[0]?.caller;
    },
    removalOf: (tag) => known.find(({ caller }) => caller.tokenTag === tag)?.caller.removed,
    replace(next) {
      const before = known;
      known = next.map((token, index) => {
        const digest = hashToken(token);
        const kept = before.find((old) => timingSafeEqual(old.digest, digest));
        const name = formatTokenName(index, next.length);
        return createKnownToken(digest, looksLikeToken(token), name, kept?.removal);
      });
      const removals = new Set(known.map(({ removal }) => removal));
      for (const { removal } of before) if (!removals.has(removal)) removal.abort();
    },
  };
}

function createKnownToken(
  digest: Buffer,
  looksSigned: boolean,
  name: string,
  removal = new AbortController(),
): KnownToken {
  const caller: OperatorCaller = {
    kind: "master",
    name,
    tokenTag: toTokenTag(digest),
    removed: removal.signal,
  };
  return { digest, looksSigned, caller, removal };
}

/** Sixteen digits distinguish tokens, and do not help to guess one that is random enough. */
function toTokenTag(digest: Buffer): string {
  return hash("sha256", digest, "hex").slice(0, 16);
}

/** A single token has the name from before two were possible. */
function formatTokenName(index: number, count: number): string {
  return count === 1 ? "operator" : `operator:${index + 1}`;
}
