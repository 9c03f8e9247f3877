import { hash, timingSafeEqual } from "node:crypto";
import { looksLikeToken } from "@agent/client";
import type { OperatorCaller } from "./caller.ts";

/** The operator's bearer tokens: one, or two while one replaces the other (docs/decisions.md, 2). */
export interface OperatorTokens {
  /**
   * The caller that a bearer authenticates; undefined when it is none of the tokens. `looksSigned` is
   * what `looksLikeToken` says of the bearer.
   */
  find(bearer: string, looksSigned: boolean): OperatorCaller | undefined;
  /** Puts these tokens in the place of the present ones, and ends what a removed token opened. */
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
    find(bearer, looksSigned) {
      // Agents' tokens are the common case, and one look at the outline saves their hashing.
      if (known.every((token) => token.looksSigned !== looksSigned)) return undefined;
      // Both sides are hashed and all tokens compared, so that time shows neither content nor which.
      const digest = hashToken(bearer);
      const matches = known.filter((token) => timingSafeEqual(digest, token.digest));
      return matches[0]?.caller;
    },
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
  const caller: OperatorCaller = { kind: "master", name, removed: removal.signal };
  return { digest, looksSigned, caller, removal };
}

/** A lone token is named as before there could be two. */
function formatTokenName(index: number, count: number): string {
  return count === 1 ? "operator" : `operator:${index + 1}`;
}
