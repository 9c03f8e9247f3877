import { BASE_PATH } from "../../contract/operator/federation.ts";
import { chooseFrom } from "../history-relay.ts";
import { createSignedHeartbeat, createFalseHeartbeat } from "./answer-requests.ts";
import type { HostileStep } from "./hostile-step.ts";

/** Lies in each of the next answers, in some or in none, always in the same way or in any. */
const changeAnswers: HostileStep = (_, peer, [often, habit]) => {
  peer.lieEvery = chooseFrom([0, 1, 1, 2, 4, 8], often)!;
  peer.habit = habit % 2 === 0 ? null : habit >> 1;
  return Promise.resolve();
};

const sendHeartbeat: HostileStep = async (_, peer, [kind]) => {
  const isFalse = kind % 3 > 0;
  const heartbeat = isFalse ? createFalseHeartbeat(peer) : createSignedHeartbeat(peer, {});
  await peer.send(`${BASE_PATH}/peer/heartbeat`, heartbeat);
};

/** Ends the peering, whatever is under way. */
const sendRemoval: HostileStep = (_, peer) => peer.signer.remove();

/** Begins a handshake, and ends it as it should, with a wrong answer or not at all. */
const proposeAgain: HostileStep = async (_, peer, [kind, who]) => {
  const { signer, random } = peer;
  const victim = chooseFrom(peer.agents, who)!;
  const changes = [{}, {}, {}, { relay_id: victim.agentId }, { public_key: victim.publicKey }];
  const { body, status } = await signer.propose(chooseFrom(changes, kind));
  if (status !== 200 || kind % 7 === 0) return;
  const nonce = kind % 5 === 0 ? random.below(1_000) : body["nonce_b"];
  await peer.send(`${BASE_PATH}/peer/confirm`, {
    relay_id: signer.relayId,
    challenge_response: signer.signChallenge(nonce),
  });
};

const rotateKey: HostileStep = async ({ relay }, peer) => {
  // A step of the succession must be later than the one before.
  await relay.clock.advance(1_000);
  peer.rotateKey();
};

/** Sends an earlier message again, as it was, or signed anew. */
const replay: HostileStep = async (_, peer, [which, kind]) => {
  const message = chooseFrom(peer.sent, which);
  if (message === undefined) return;
  const { path, body, headers } = message;
  await peer.signer.post(path, body, kind % 2 === 0 ? headers : undefined);
};

/** Sends many copies of a message at once. */
const flood: HostileStep = async (_, peer, [which, kind]) => {
  const message = chooseFrom(peer.sent, which);
  if (message === undefined) return;
  const copies = Array.from({ length: 2 + (kind % 20) }, () => {
    return peer.signer.post(message.path, message.body);
  });
  await Promise.all(copies);
};

export const peeringMessages = {
  changeAnswers,
  sendHeartbeat,
  sendRemoval,
  proposeAgain,
  rotateKey,
  replay,
  flood,
} satisfies Record<string, HostileStep>;
