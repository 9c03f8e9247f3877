import {
  refuse,
  type Answer,
  type Operation,
  type ParsedRequest,
  type PeerRefusal,
} from "@agent/wire";
import type { RequestContext } from "../http/handler.ts";
import { operations, type OperationName, type Operations } from "../operations.ts";
import type { Services } from "../services.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { receiveResult } from "./outbound/receive-result.ts";
import { receiveCancel } from "./cancellation/receive-cancel.ts";
import { receiveDiscovery } from "./discovery/receive-discovery.ts";
import { receiveConfirmation, receiveProposal } from "./peering/receive-handshake.ts";
import { receiveSettlement } from "./settlement/receive-settlement.ts";
import type { FederationServices } from "./federation-services.ts";
import { listBooked } from "./settlement/list-booked.ts";
import { receiveHeartbeat, receiveRemoval } from "./peering/heartbeat.ts";
import {
  authenticatePeer,
  type PeerAuthOptions,
  type PeerRoute,
  type PeerRequest,
} from "./transport/authenticate-peer.ts";
import { listPeers } from "./peers/peer-store.ts";
import { buildPeerEntry } from "./peers/peer-view.ts";
import { receiveTask } from "./inbound/receive-task.ts";

type PeerOperation =
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
  | "listBooked";

/** A handler that may also refuse with the codes of peer authentication. */
type PeerHandler<N extends PeerOperation> = (
  input: ParsedRequest<Operations[N]>,
  context: RequestContext,
) => Promise<Answer<Operations[N]> | PeerRefusal>;

type PeerHandlers = { readonly [N in PeerOperation]: PeerHandler<N> };

/** Returns the handlers for peers; their paths are not served while federation is off. */
export function peerHandlers(services: Services, parts: PeerAuthOptions): PeerHandlers {
  const routeBuilders = createRouteBuilders(services, parts);
  return {
    ...peeringHandlers(services, routeBuilders),
    ...delegationHandlers(services, routeBuilders),
  };
}

function peeringHandlers(services: Services, { signedRoute, peerHandler }: RouteBuilders) {
  return {
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
        resolveKey: async (relayId) =>
          (await services.federation?.pendingPeers.find(relayId))?.peer.publicKey,
      },
      (federationServices, { relayId, raw }) =>
        receiveConfirmation(federationServices, relayId, raw),
    ),
    peerHeartbeat: peerHandler("peerHeartbeat", {}, (federationServices, peer, { raw }) =>
      receiveHeartbeat(federationServices, peer, raw),
    ),
    removeSelf: peerHandler("removeSelf", {}, (federationServices, peer, { raw }) =>
      receiveRemoval({ ...federationServices, router: services.router }, peer, raw),
    ),
    listPeers: peerHandler("listPeers", { singleUse: true }, async (federationServices) => {
      const rows = await listPeers(federationServices.storage.read);
      const peers = await Promise.all(rows.map((row) => buildPeerEntry(federationServices, row)));
      return { status: 200, body: { peers } };
    }),
  };
}

function delegationHandlers({ router }: Services, { peerHandler }: RouteBuilders) {
  return {
    forwardDiscovery: peerHandler(
      "forwardDiscovery",
      { activeOnly: true },
      (federationServices, peer, _request, { body }) =>
        receiveDiscovery(federationServices, peer, body),
    ),
    forwardTask: peerHandler(
      "forwardTask",
      { activeOnly: true },
      (federationServices, peer, { raw }, { body: message }) =>
        receiveTask(federationServices, peer, { message, raw }, router.route),
    ),
    cancelForwardedTask: peerHandler(
      "cancelForwardedTask",
      { concludesTasks: true },
      (federationServices, peer, _request, { body }) =>
        receiveCancel({ ...federationServices, router }, peer, body),
    ),
    returnResult: peerHandler(
      "returnResult",
      { concludesTasks: true },
      (federationServices, peer, _request, { body }) =>
        receiveResult(federationServices, peer, body),
    ),
    forwardSettlement: peerHandler(
      "forwardSettlement",
      { concludesTasks: true },
      (federationServices, peer, { raw }, { body: message }) =>
        receiveSettlement(federationServices, peer, { message, raw }),
    ),
    listBooked: peerHandler(
      "listBooked",
      { singleUse: true, concludesTasks: true },
      (federationServices, peer, { bound }, { query }) =>
        listBooked(federationServices, peer, query, bound),
    ),
  };
}

type RouteBuilders = ReturnType<typeof createRouteBuilders>;

/** Wraps handlers in the authentication of peers. */
function createRouteBuilders(services: Services, parts: PeerAuthOptions) {
  /** Wraps a handler for signed requests of any relay, peer or not. */
  function signedRoute<N extends PeerOperation>(
    name: N,
    route: Omit<PeerRoute, "operation">,
    handle: (
      federationServices: FederationServices,
      request: PeerRequest,
      input: ParsedRequest<Operations[N]>,
    ) => Promise<Answer<Operations[N]> | PeerRefusal>,
  ): PeerHandler<N> {
    const operation: Operation = operations[name satisfies OperationName];
    return async (input, context) => {
      const { federation } = services;
      if (federation === undefined)
        throw new Error("federation route served while federation is disabled");
      const federationServices: FederationServices = { ...services, federation };
      const request = await authenticatePeer(
        federationServices,
        parts,
        { ...route, operation },
        context,
      );
      return request.ok ? handle(federationServices, request, input) : request;
    };
  }

  /** Wraps a handler for requests of peers. */
  function peerHandler<N extends PeerOperation>(
    name: N,
    route: Omit<PeerRoute, "operation" | "resolveKey">,
    handle: (
      federationServices: FederationServices,
      peer: FederationPeerRow,
      request: PeerRequest,
      input: ParsedRequest<Operations[N]>,
    ) => Promise<Answer<Operations[N]> | PeerRefusal>,
  ): PeerHandler<N> {
    return signedRoute(name, route, (federationServices, request, input) => {
      if (request.peer === undefined) throw new Error("authenticated peer has no record");
      return handle(federationServices, request.peer, request, input);
    });
  }

  return { signedRoute, peerHandler };
}

function getStringMember(raw: unknown, name: string): string | undefined {
  const value = (raw as Record<string, unknown>)[name];
  return typeof value === "string" ? value : undefined;
}
