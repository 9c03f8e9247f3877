import {
  operations,
  refuse,
  type Answer,
  type Operation,
  type OperationName,
  type Operations,
  type Parsed,
  type PeerRefusal,
  type Refusal,
} from "@agent/wire";
import type { Handlers, RequestContext } from "../http/mount.ts";
import type { RateLimiter } from "../http/rate-limit.ts";
import { statedSuccession } from "../identity/relay-identity.ts";
import type { Services } from "../services.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { acceptResult } from "./accept-result.ts";
import { addPeer } from "./add-peer.ts";
import { answerCancel } from "./answer-cancel.ts";
import { answerDiscovery } from "./answer-discovery.ts";
import { answerConfirm, answerPropose } from "./answer-handshake.ts";
import { bookSettlement } from "./book-settlement.ts";
import { clearDefaults } from "./clear-defaults.ts";
import type { FederationServices } from "./federation.ts";
import { listBooked } from "./list-booked.ts";
import { observeFederation } from "./metrics.ts";
import { answerHeartbeat, answerRemoval } from "./notices.ts";
import {
  giveUpOutbox,
  listForOperator,
  outboxPage,
  removePeer,
  retryOutbox,
  setCredit,
  settleOutside,
} from "./operator.ts";
import { OWN_FEATURES } from "./own-features.ts";
import { passGate, type Door as Gate, type PeerRequest } from "./peer-gate.ts";
import { listPeers } from "./peer-store.ts";
import { peerEntry } from "./peer-view.ts";
import { takeTask } from "./take-task.ts";

type FederationName =
  | "relayIdentity"
  | "proposePeer"
  | "confirmPeer"
  | "peerHeartbeat"
  | "removeSelf"
  | "listPeers"
  | "forwardDiscovery"
  | "forwardTask"
  | "cancelForwardedTask"
  | "returnResult"
  | "forwardSettlement"
  | "listBooked"
  | "addPeer"
  | "listFederationPeers"
  | "setPeerCredit"
  | "removePeer"
  | "clearPeerDefaults"
  | "settlePeer"
  | "listOutbox"
  | "retryOutbox"
  | "giveUpOutbox";

/** A handler that may refuse in the same way as its neighbours do, where its row says so. */
type Door<N extends FederationName, Shared extends Refusal> = (
  input: Parsed<Operations[N]>,
  context: RequestContext,
) => Promise<Answer<Operations[N]> | Shared>;

interface GateParts {
  readonly limiter: RateLimiter;
  readonly draining: () => boolean;
}

type FederationHandlers = Pick<Handlers, FederationName>;

/** The doors between relays and those of the operator; the former do not exist while federation is off. */
export function federationHandlers(services: Services, parts: GateParts): FederationHandlers {
  const federated = (): FederationServices | undefined =>
    services.federation === undefined
      ? undefined
      : { ...services, federation: services.federation };

  /** A door for signed requests of relays. */
  function signed<N extends FederationName>(
    name: N,
    gate: Omit<Gate, "operation">,
    handle: (
      needs: FederationServices,
      request: PeerRequest,
      input: Parsed<Operations[N]>,
    ) => Promise<Answer<Operations[N]> | PeerRefusal>,
  ): Door<N, PeerRefusal> {
    const operation: Operation = operations[name satisfies OperationName];
    return async (input, context) => {
      const needs = federated();
      if (needs === undefined) throw new Error("a path that is off was served");
      const request = await passGate(needs, parts, { ...gate, operation }, context);
      return request.ok ? handle(needs, request, input) : request;
    };
  }

  /** A door for peers, who are known. */
  function forPeers<N extends FederationName>(
    name: N,
    gate: Omit<Gate, "operation" | "keyOf">,
    handle: (
      needs: FederationServices,
      peer: FederationPeerRow,
      request: PeerRequest,
      input: Parsed<Operations[N]>,
    ) => Promise<Answer<Operations[N]> | PeerRefusal>,
  ): Door<N, PeerRefusal> {
    return signed(name, gate, (needs, request, input) => {
      if (request.peer === undefined) throw new Error("a peer without a record passed the gate");
      return handle(needs, request.peer, request, input);
    });
  }

  /** A door for the operator. */
  function operated<N extends FederationName>(
    _name: N,
    handle: (
      needs: FederationServices,
      input: Parsed<Operations[N]>,
      context: RequestContext,
    ) => Promise<Answer<Operations[N]>>,
  ): Door<N, Refusal<"federation.disabled">> {
    return async (input, context) => {
      const needs = federated();
      return needs === undefined ? refuse("federation.disabled") : handle(needs, input, context);
    };
  }

  const { route } = services.router;
  if (services.federation !== undefined) {
    observeFederation(services.metrics.registry, services, services.federation);
  }
  const memberOf = (body: unknown, name: string): string | undefined => {
    const value = (body as Record<string, unknown>)[name];
    return typeof value === "string" ? value : undefined;
  };

  return {
    relayIdentity: () => {
      const { identity } = services;
      const { relayId: agent_id, publicKey: public_key, did } = identity;
      const { incarnation } = services.freezer;
      const features = [...OWN_FEATURES];
      const stated = statedSuccession(identity);
      const body = { agent_id, public_key, did, features, incarnation, ...stated };
      return { status: 200, body };
    },
    proposePeer: signed(
      "proposePeer",
      { once: true, keyOf: (_, body) => memberOf(body, "public_key") },
      async (needs, { relayId }, { body }) =>
        body.relay_id === relayId ? answerPropose(needs, body) : refuse("federation.wrong_sender"),
    ),
    confirmPeer: signed(
      "confirmPeer",
      {
        once: true,
        unknown: "peer.not_pending",
        keyOf: (relayId) => services.federation?.pending.get(relayId)?.peer.publicKey,
      },
      (needs, { relayId, body }) => answerConfirm(needs, relayId, body),
    ),
    peerHeartbeat: forPeers("peerHeartbeat", {}, (needs, peer, { body }) =>
      answerHeartbeat(needs, peer, body),
    ),
    removeSelf: forPeers("removeSelf", {}, (needs, peer, { body }) =>
      answerRemoval(needs, peer, body),
    ),
    listPeers: forPeers("listPeers", { once: true }, async (needs) => {
      const rows = await listPeers(needs.storage.read);
      const peers = await Promise.all(rows.map((row) => peerEntry(needs, row)));
      return { status: 200, body: { peers } };
    }),
    forwardDiscovery: forPeers(
      "forwardDiscovery",
      { activeOnly: true },
      (needs, peer, _request, { body }) => answerDiscovery(needs, peer, body),
    ),
    forwardTask: forPeers(
      "forwardTask",
      { activeOnly: true },
      (needs, peer, { body: sent }, { body }) => takeTask(needs, peer, body, sent, route),
    ),
    cancelForwardedTask: forPeers("cancelForwardedTask", {}, (needs, peer, _request, { body }) =>
      answerCancel({ ...needs, router: services.router }, peer, body),
    ),
    returnResult: forPeers("returnResult", {}, (needs, peer, request, { body }) =>
      acceptResult(needs, peer, body, request.body),
    ),
    forwardSettlement: forPeers("forwardSettlement", {}, (needs, peer, { body }) =>
      bookSettlement(needs, peer, body),
    ),
    listBooked: forPeers("listBooked", { once: true }, (needs, peer, { bound }, { query }) =>
      listBooked(needs, peer, query, bound),
    ),

    addPeer: operated("addPeer", (needs, { body }) => addPeer(needs, body.endpoint_url)),
    listFederationPeers: operated("listFederationPeers", (needs) => listForOperator(needs)),
    setPeerCredit: operated("setPeerCredit", (needs, { params, body }) =>
      setCredit(needs, params.relayId, body.credit_limit),
    ),
    removePeer: operated("removePeer", (needs, { params }) => removePeer(needs, params.relayId)),
    clearPeerDefaults: operated("clearPeerDefaults", (needs, { params, body }) =>
      clearDefaults(needs, params.relayId, body.reason),
    ),
    settlePeer: operated("settlePeer", (needs, { params, body }, { keep }) =>
      settleOutside(needs, params.relayId, body, keep),
    ),
    listOutbox: operated("listOutbox", (needs, { query }) => outboxPage(needs, query)),
    retryOutbox: operated("retryOutbox", (needs, { params }) =>
      retryOutbox(needs, params.settlementId),
    ),
    giveUpOutbox: operated("giveUpOutbox", (needs, { params, body }, { keep }) =>
      giveUpOutbox(needs, params.settlementId, body.reason, keep),
    ),
  };
}
