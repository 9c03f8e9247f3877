import { refuse, type Answer, type ParsedRequest, type Refusal } from "@agent/wire";
import type { RequestContext } from "../http/handler.ts";
import type { Operations } from "../operations.ts";
import type { Services } from "../services.ts";
import { addPeer } from "./peering/add-peer.ts";
import { clearDefaults } from "./exposure/clear-defaults.ts";
import type { FederationServices } from "./federation-services.ts";
import { listPeerHistory, listPeerPayments } from "./peers/peer-records.ts";
import {
  listFederationPeers,
  removePeer,
  setPeerCredit,
  settlePeer,
} from "./peers/manage-peers.ts";
import { giveUpOutbox, listOutboxPage, retryOutbox } from "./settlement/manage-outbox.ts";

type OperatorOperation =
  | "addPeer"
  | "listFederationPeers"
  | "setPeerCredit"
  | "removePeer"
  | "clearPeerDefaults"
  | "settlePeer"
  | "listPeerPayments"
  | "listPeerHistory"
  | "listOutbox"
  | "retryOutbox"
  | "giveUpOutbox";

type OperatorHandler<N extends OperatorOperation> = (
  input: ParsedRequest<Operations[N]>,
  context: RequestContext,
) => Promise<Answer<Operations[N]> | Refusal<"federation.disabled">>;

type OperatorHandlers = { readonly [N in OperatorOperation]: OperatorHandler<N> };

/** Returns the operator's handlers, which refuse with `federation.disabled` while federation is off. */
export function operatorHandlers(services: Services): OperatorHandlers {
  function operatorHandler<N extends OperatorOperation>(
    _name: N,
    handle: (
      federationServices: FederationServices & Pick<Services, "router">,
      input: ParsedRequest<Operations[N]>,
      context: RequestContext,
    ) => Promise<Answer<Operations[N]>>,
  ): OperatorHandler<N> {
    return async (input, context) => {
      const { federation } = services;
      if (federation === undefined) return refuse("federation.disabled");
      return handle({ ...services, federation }, input, context);
    };
  }

  return {
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
    listPeerPayments: operatorHandler("listPeerPayments", (federationServices, { params, query }) =>
      listPeerPayments(federationServices, params.relayId, query),
    ),
    listPeerHistory: operatorHandler("listPeerHistory", (federationServices, { params, query }) =>
      listPeerHistory(federationServices, params.relayId, query),
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
