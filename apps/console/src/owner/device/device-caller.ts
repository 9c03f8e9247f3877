import type { CallRefusal } from "@agent/client";
import type { PageOperation } from "../../shared/relay/operation-addresses.ts";
import {
  callForBody,
  callForText,
  type CallExtras,
  type RelayCaller,
} from "../../shared/relay/call-relay.ts";
import { ownerRights, type OwnerRight } from "./owner-rights.ts";
import type { TokenMinter } from "./token-minter.ts";

/** The refusals that are permanent for a device. */
const ENDED_CODES = ["auth.device_not_authorized", "agent.revoked", "agent.key_displaced"];

/**
 * Creates a caller that signs a token with each operation's own scope. Calls `onEnded` when the relay no longer
 * recognises the device.
 */
export function createDeviceCaller(
  mint: TokenMinter,
  onEnded: (refusal: CallRefusal) => void,
): RelayCaller {
  const rights: { readonly [Name in PageOperation]?: OwnerRight } = ownerRights;

  async function getOptions(name: PageOperation, { idempotencyKey, signal }: CallExtras = {}) {
    const { scope, isOnce } = rights[name] ?? { scope: undefined, isOnce: false };
    return {
      token: await mint(scope, isOnce),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      ...(signal !== undefined && { signal }),
    };
  }

  function noteEnd<Answer extends { readonly ok: true } | CallRefusal>(answer: Answer): Answer {
    if (!answer.ok && ENDED_CODES.includes(answer.code)) onEnded(answer);
    return answer;
  }

  return {
    async call(name, request, extras) {
      return noteEnd(await callForBody(name, request, await getOptions(name, extras)));
    },
    async callText(name, request) {
      return noteEnd(await callForText(name, request, await getOptions(name)));
    },
  };
}
