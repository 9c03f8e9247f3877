import { initial } from "./001-initial.ts";
import { credentials } from "./002-credentials.ts";
import { settlementPostings } from "./003-settlement-postings.ts";
import { ledgers } from "./004-ledgers.ts";
import { delegationTokens } from "./005-delegation-tokens.ts";
import { delegationBudgetEnds } from "./006-delegation-budget-ends.ts";
import { idempotencyKeys } from "./007-idempotency-keys.ts";
import { moneyOut } from "./008-money-out.ts";
import { agentUpkeep } from "./009-agent-upkeep.ts";
import { federation } from "./010-federation.ts";
import { payments } from "./011-payments.ts";
import { approvals } from "./012-approvals.ts";
import { records } from "./013-records.ts";
import { routingDecisions } from "./014-routing-decisions.ts";
import { taskEvents } from "./015-task-events.ts";
import { capabilityCounts } from "./016-capability-counts.ts";
import { webhooks } from "./017-webhooks.ts";
import { federationEnds } from "./018-federation-ends.ts";
import { tasksOfPeers } from "./019-tasks-of-peers.ts";
import { federationGuards } from "./020-federation-guards.ts";
import { federationFeatures } from "./021-federation-features.ts";
import { incarnation } from "./022-incarnation.ts";
import { clock } from "./023-clock.ts";
import { reconciliation } from "./024-reconciliation.ts";
import { claims } from "./026-claims.ts";
import { noShows } from "./027-no-shows.ts";
import { cardReversals } from "./028-card-reversals.ts";
import { paymentReferences } from "./029-payment-references.ts";
import { traces } from "./030-traces.ts";
import { erasedTexts } from "./031-erased-texts.ts";
import { keyProofs } from "./032-key-proofs.ts";
import { votes } from "./033-votes.ts";
import { relayKeys } from "./034-relay-keys.ts";
import { agentKeySources } from "./035-agent-key-sources.ts";
import { taskPeers } from "./036-task-peers.ts";
import { neighbours } from "./037-neighbours.ts";
import { trustFees } from "./038-trust-fees.ts";
import { taskDepth } from "./039-task-depth.ts";
import { unreachableAgents } from "./040-unreachable-agents.ts";
import { transparencyLog } from "./042-transparency-log.ts";
import { witnessTables } from "./043-witness.ts";
import { operatorTables } from "./044-operator.ts";
import { databaseOrigin } from "./046-database-origin.ts";
import { processTables } from "./047-processes.ts";
import { inspections } from "./048-inspections.ts";
import { approvalArguments } from "./049-approval-arguments.ts";
import { consoleFigures } from "./050-console-figures.ts";
import { logSegments } from "./051-log-segments.ts";
import { inspectionPages } from "./052-inspection-pages.ts";
import { votesInFavour } from "./053-votes-in-favour.ts";
import { votesWaiting } from "./054-votes-waiting.ts";
import { creditLimits } from "./055-credit-limits.ts";
import { withdrawalsByAmount } from "./057-withdrawals-by-amount.ts";
import { webhooksDue } from "./058-webhooks-due.ts";
import { discoveryPlaces } from "./059-discovery-places.ts";
import { pendingWithdrawals } from "./060-pending-withdrawals.ts";
import { undecidedResults } from "./061-undecided-results.ts";
import { paidInspections } from "./062-paid-inspections.ts";
import { cardReleaseTimes } from "./063-card-release-times.ts";
import { shownOffers } from "./064-shown-offers.ts";
import { voteKeys } from "./065-vote-keys.ts";
import { refusedResults } from "./066-refused-results.ts";
import { usedFees } from "./067-used-fees.ts";

/** All migrations in the order in which they are applied. A released one is never changed. */
export const migrations = [
  initial,
  credentials,
  settlementPostings,
  ledgers,
  delegationTokens,
  delegationBudgetEnds,
  idempotencyKeys,
  moneyOut,
  agentUpkeep,
  federation,
  payments,
  approvals,
  records,
  routingDecisions,
  taskEvents,
  capabilityCounts,
  webhooks,
  federationEnds,
  tasksOfPeers,
  federationGuards,
  federationFeatures,
  incarnation,
  clock,
  reconciliation,
  claims,
  noShows,
  cardReversals,
  paymentReferences,
  traces,
  erasedTexts,
  keyProofs,
  votes,
  relayKeys,
  agentKeySources,
  taskPeers,
  neighbours,
  trustFees,
  taskDepth,
  unreachableAgents,
  transparencyLog,
  witnessTables,
  operatorTables,
  databaseOrigin,
  processTables,
  inspections,
  approvalArguments,
  consoleFigures,
  logSegments,
  inspectionPages,
  votesInFavour,
  votesWaiting,
  creditLimits,
  withdrawalsByAmount,
  webhooksDue,
  discoveryPlaces,
  pendingWithdrawals,
  undecidedResults,
  paidInspections,
  cardReleaseTimes,
  shownOffers,
  voteKeys,
  refusedResults,
  usedFees,
];
