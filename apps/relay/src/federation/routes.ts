import {
  refuse,
  type Answer,
  type Operation,
  type ParsedRequest,
  type PeerRefusal,
  type Refusal,
} from "@agent/wire";
import type { Handlers, RequestContext } from "../http/server/mount-operations.ts";
import type { RateLimiter } from "../http/limits/rate-limit.ts";
import { toSuccessionMember } from "../identity/relay-identity.ts";
import type { Services } from "../services.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { receiveResult } from "./outbound/receive-result.ts";
import { addPeer } from "./peering/add-peer.ts";
import { receiveCancel } from "./cancellation/receive-cancel.ts";
import { receiveDiscovery } from "./discovery/receive-discovery.ts";
import { receiveConfirmation, receiveProposal } from "./peering/receive-handshake.ts";
import { receiveSettlement } from "./settlement/receive-settlement.ts";
import { clearDefaults } from "./exposure/clear-defaults.ts";
import type { FederationServices } from "./federation.ts";
import { listBooked } from "./settlement/list-settlements.ts";
import { registerFederationMetrics } from "./metrics.ts";
import { receiveHeartbeat, receiveRemoval } from "./peering/heartbeat.ts";
import {
  giveUpOutbox,
  listFederationPeers,
  listOutboxPage,
  removePeer,
  retryOutbox,
  setPeerCredit,
  settlePeer,
} from "./operator.ts";
import { OWN_FEATURES } from "./own-features.ts";
import {
  authenticatePeer,
  type PeerRoute,
  type PeerRequest,
} from "./transport/authenticate-peer.ts";
import { listPeers } from "./peers/peer-store.ts";
import { buildPeerEntry } from "./peers/peer-view.ts";
import { receiveTask } from "./inbound/receive-task.ts";
import { operations, type OperationName, type Operations } from "../operations.ts";

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
type PeerHandler<N extends FederationName, Shared extends Refusal> = (
  input: ParsedRequest<Operations[N]>,
  context: RequestContext,
) => Promise<Answer<Operations[N]> | Shared>;

interface PeerAuthOptions {
  readonly limiter: RateLimiter;
  readonly draining: () => boolean;
}

type FederationHandlers = Pick<Handlers, FederationName>;

/** The doors between relays and those of the operator; the former do not exist while federation is off. */
export function federationHandlers(services: Services, parts: PeerAuthOptions): FederationHandlers {
  const enabledServices = (): FederationServices | undefined =>
    services.federation === undefined
      ? undefined
      : { ...services, federation: services.federation };

  /** A door for signed requests of relays. */
  function signedRoute<N extends FederationName>(
    name: N,
    peerRoute: Omit<PeerRoute, "operation">,
    handle: (
      federationServices: FederationServices,
      request: PeerRequest,
      input: ParsedRequest<Operations[N]>,
    ) => Promise<Answer<Operations[N]> | PeerRefusal>,
  ): PeerHandler<N, PeerRefusal> {
    const operation: Operation = operations[name satisfies OperationName];
    return async (input, context) => {
      const federationServices = enabledServices();
      if (federationServices === undefined) throw new Error("a path that is off was served");
      const request = await authenticatePeer(
        federationServices,
        parts,
        { ...peerRoute, operation },
        context,
      );
      return request.ok ? handle(federationServices, request, input) : request;
    };
  }

  /** A door for peers, who are known. */
  function peerHandler<N extends FederationName>(
    name: N,
    peerRoute: Omit<PeerRoute, "operation" | "resolveKey">,
    handle: (
      federationServices: FederationServices,
      peer: FederationPeerRow,
      request: PeerRequest,
      input: ParsedRequest<Operations[N]>,
    ) => Promise<Answer<Operations[N]> | PeerRefusal>,
  ): PeerHandler<N, PeerRefusal> {
    return signedRoute(name, peerRoute, (federationServices, request, input) => {
      if (request.peer === undefined) throw new Error("a peer without a record passed the gate");
      return handle(federationServices, request.peer, request, input);
    });
  }

  /** A door for the operator. */
  function operatorHandler<N extends FederationName>(
    _name: N,
    handle: (
      federationServices: FederationServices,
      input: ParsedRequest<Operations[N]>,
      context: RequestContext,
    ) => Promise<Answer<Operations[N]>>,
  ): PeerHandler<N, Refusal<"federation.disabled">> {
    return async (input, context) => {
      const federationServices = enabledServices();
      return federationServices === undefined
        ? refuse("federation.disabled")
        : handle(federationServices, input, context);
    };
  }

  const { route } = services.router;
  if (services.federation !== undefined) {
    registerFederationMetrics(services.metrics.registry, services, services.federation);
  }
  const getStringMember = (body: unknown, name: string): string | undefined => {
    const value = (body as Record<string, unknown>)[name];
    return typeof value === "string" ? value : undefined;
  };

  return {
    relayIdentity: () => {
      const { identity } = services;
      const { relayId: agent_id, publicKey: public_key, did } = identity;
      const { incarnation } = services.freezer;
      const features = [...OWN_FEATURES];
      const stated = toSuccessionMember(identity);
      const body = { agent_id, public_key, did, features, incarnation, ...stated };
      return { status: 200, body };
    },
    proposePeer: signedRoute(
      "proposePeer",
      { singleUse: true, resolveKey: (_, body) => getStringMember(body, "public_key") },
      async (federationServices, { relayId }, { body }) =>
        body.relay_id === relayId
          ? receiveProposal(federationServices, body)
          : refuse("federation.wrong_sender"),
    ),
    confirmPeer: signedRoute(
      "confirmPeer",
      {
        singleUse: true,
        unknownPeerCode: "peer.not_pending",
        resolveKey: (relayId) => services.federation?.pendingPeers.get(relayId)?.peer.publicKey,
      },
      (federationServices, { relayId, body }) =>
        receiveConfirmation(federationServices, relayId, body),
    ),
    peerHeartbeat: peerHandler("peerHeartbeat", {}, (federationServices, peer, { body }) =>
      receiveHeartbeat(federationServices, peer, body),
    ),
    removeSelf: peerHandler("removeSelf", {}, (federationServices, peer, { body }) =>
      receiveRemoval(federationServices, peer, body),
    ),
    listPeers: peerHandler("listPeers", { singleUse: true }, async (federationServices) => {
      const rows = await listPeers(federationServices.storage.read);
      const peers = await Promise.all(rows.map((row) => buildPeerEntry(federationServices, row)));
      return { status: 200, body: { peers } };
    }),
    forwardDiscovery: peerHandler(
      "forwardDiscovery",
      { activeOnly: true },
      (federationServices, peer, _request, { body }) =>
        receiveDiscovery(federationServices, peer, body),
    ),
    forwardTask: peerHandler(
      "forwardTask",
      { activeOnly: true },
      (federationServices, peer, { body: sent }, { body }) =>
        receiveTask(federationServices, peer, body, sent, route),
    ),
    cancelForwardedTask: peerHandler(
      "cancelForwardedTask",
      {},
      (federationServices, peer, _request, { body }) =>
        receiveCancel({ ...federationServices, router: services.router }, peer, body),
    ),
    returnResult: peerHandler("returnResult", {}, (federationServices, peer, request, { body }) =>
      receiveResult(federationServices, peer, body, request.body),
    ),
    forwardSettlement: peerHandler("forwardSettlement", {}, (federationServices, peer, { body }) =>
      receiveSettlement(federationServices, peer, body),
    ),
    listBooked: peerHandler(
      "listBooked",
      { singleUse: true },
      (federationServices, peer, { bound }, { query }) =>
        listBooked(federationServices, peer, query, bound),
    ),

    addPeer: operatorHandler("addPeer", (federationServices, { body }) =>
      addPeer(federationServices, body.endpoint_url),
    ),
    listFederationPeers: operatorHandler("listFederationPeers", (federationServices) =>
      listFederationPeers(federationServices),
    ),
    setPeerCredit: operatorHandler("setPeerCredit", (federationServices, { params, body }) =>
      setPeerCredit(federationServices, params.relayId, body.credit_limit),
    ),
    removePeer: operatorHandler("removePeer", (federationServices, { params }) =>
      removePeer(federationServices, params.relayId),
    ),
    clearPeerDefaults: operatorHandler(
      "clearPeerDefaults",
      (federationServices, { params, body }) =>
        clearDefaults(federationServices, params.relayId, body.reason),
    ),
    settlePeer: operatorHandler(
      "settlePeer",
      (federationServices, { params, body }, { saveResponse }) =>
        settlePeer(federationServices, params.relayId, body, saveResponse),
    ),
    listOutbox: operatorHandler("listOutbox", (federationServices, { query }) =>
      listOutboxPage(federationServices, query),
    ),
    retryOutbox: operatorHandler("retryOutbox", (federationServices, { params }) =>
      retryOutbox(federationServices, params.settlementId),
    ),
    giveUpOutbox: operatorHandler(
      "giveUpOutbox",
      (federationServices, { params, body }, { saveResponse }) =>
        giveUpOutbox(federationServices, params.settlementId, body.reason, saveResponse),
    ),
  };
}
