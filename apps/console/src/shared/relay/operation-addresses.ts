import type { OperationName, Operations } from "@agent/wire";

type Address<Name extends OperationName> =
  `${Operations[Name]["method"]} ${Operations[Name]["path"]}`;

/**
 * The operations that the pages call. The compiler compares each with the contract, whose schemas of all
 * operations together would be a third of what the pages load.
 */
export const operationAddresses = {
  relayInfo: "GET /.well-known/agent-relay.json",
  reconcile: "GET /api/v1/admin/reconciliation",
  openConsoleSession: "POST /api/v1/console/session",
  renewConsoleSession: "POST /api/v1/console/session/renew",
  closeConsoleSession: "DELETE /api/v1/console/session",
  listProcesses: "GET /api/v1/admin/processes",
  listConsoleSessions: "GET /api/v1/admin/console-sessions",
  revokeConsoleSession: "DELETE /api/v1/admin/console-sessions/:sessionId",
  getOverview: "GET /api/v1/admin/overview",
  getSeries: "GET /api/v1/admin/series",
  listRelayEvents: "GET /api/v1/admin/events",
  listAllTasks: "GET /api/v1/admin/tasks",
  getTaskReport: "GET /api/v1/admin/tasks/:taskId",
  getTaskTexts: "GET /api/v1/admin/tasks/:taskId/texts",
  getEvidence: "GET /agent/:agentId/task/:taskId/evidence",
  getRouting: "GET /agent/:agentId/task/:taskId/routing",
  getInspection: "GET /agent/:agentId/task/:taskId/inspection",
  listDisputes: "GET /api/v1/admin/disputes",
  listAllInspections: "GET /api/v1/admin/inspections",
  decideDispute: "POST /agent/:agentId/task/:taskId/decision",
  listAllAgents: "GET /api/v1/admin/agents",
  getOnlineHistory: "GET /api/v1/admin/agents/:agentId/online-history",
  getAgent: "GET /api/v1/agents/:agentId",
  getVisibility: "GET /api/v1/agents/:agentId/visibility",
  listDevices: "GET /api/v1/agents/:agentId/devices",
  revokeDevice: "DELETE /api/v1/agents/:agentId/devices/:deviceId",
  getSuccession: "GET /api/v1/agents/:agentId/succession",
  listTrust: "GET /api/v1/agents/:agentId/trust",
  listTrustReceived: "GET /api/v1/admin/agents/:agentId/trust",
  listCredentials: "GET /api/v1/agents/:agentId/credentials",
  listAudit: "GET /api/v1/agents/:agentId/audit",
  listAccounts: "GET /api/v1/admin/accounts",
  listHolds: "GET /api/v1/admin/holds",
  getStatement: "GET /api/v1/agents/:agentId/statement",
  deposit: "POST /api/v1/agents/:agentId/deposit",
  listAllWithdrawals: "GET /api/v1/admin/withdrawals",
  completeWithdrawal: "POST /api/v1/admin/withdrawals/:withdrawalId/complete",
  failWithdrawal: "POST /api/v1/admin/withdrawals/:withdrawalId/fail",
  freeze: "POST /api/v1/admin/freeze",
  unfreeze: "POST /api/v1/admin/unfreeze",
  listAllApprovals: "GET /api/v1/admin/approvals",
  listOperatorAudit: "GET /api/v1/admin/audit",
  listFederationPeers: "GET /api/v1/admin/federation/peers",
  addPeer: "POST /api/v1/admin/federation/peers",
  setPeerCredit: "PUT /api/v1/admin/federation/peers/:relayId",
  removePeer: "DELETE /api/v1/admin/federation/peers/:relayId",
  settlePeer: "POST /api/v1/admin/federation/peers/:relayId/settle",
  listPeerPayments: "GET /api/v1/admin/federation/peers/:relayId/payments",
  listPeerHistory: "GET /api/v1/admin/federation/peers/:relayId/history",
  listOutbox: "GET /api/v1/admin/federation/outbox",
  retryOutbox: "POST /api/v1/admin/federation/outbox/:settlementId/retry",
  giveUpOutbox: "POST /api/v1/admin/federation/outbox/:settlementId/give-up",
  getLogState: "GET /api/v1/admin/log",
  // Only of the page of an owner:
  getTask: "GET /agent/:agentId/task/:taskId",
  claimPairing: "POST /pairing/claim",
  getBalance: "GET /api/v1/agents/:agentId/balance",
  listTransactions: "GET /api/v1/agents/:agentId/transactions",
  listWithdrawals: "GET /api/v1/agents/:agentId/withdrawals",
  requestWithdrawal: "POST /api/v1/agents/:agentId/withdrawals",
  listTasks: "GET /agent/:agentId/tasks",
  listApprovals: "GET /api/v1/agents/:agentId/approvals",
  voteOnApproval: "POST /api/v1/agents/:agentId/approvals/:approvalId/vote",
} as const satisfies { readonly [Name in OperationName]?: Address<Name> };

/** An operation that the pages call. */
export type PageOperation = keyof typeof operationAddresses;
