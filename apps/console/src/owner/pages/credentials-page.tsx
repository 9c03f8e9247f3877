import { isJsonObject } from "@agent/crypto";
import { PageTable } from "../../shared/components/page-table.tsx";
import { ForeignLine, ShortId, TimeText } from "../../shared/components/foreign-text.tsx";
import { showDuration, showPercent } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { useOwnerContext } from "../owner-context.ts";

/** Shows the credentials that others signed about the agent, and its trust in others. */
export function CredentialsPage() {
  const { agentId } = useOwnerContext().device;
  return (
    <>
      <h2>Credentials about your agent</h2>
      <Credentials agentId={agentId} />
      <h2>Agents that your agent has delegated to</h2>
      <TrustRecords agentId={agentId} />
    </>
  );
}

const getCredentials = ({ credentials }: BodyOf<"listCredentials">) => credentials;
const getRecords = ({ records }: BodyOf<"listTrust">) => records;

function Credentials({ agentId }: { agentId: string }) {
  const loadPage = useListPages("listCredentials", { params: { agentId } }, getCredentials);
  return (
    <PageTable
      caption="Credentials about the agent, newest first"
      loadPage={loadPage}
      rowKey={({ credential_id }) => credential_id}
      tone={({ revoked }) => (revoked ? "doubt" : undefined)}
      empty="No credential yet. The relay issues one for completed work."
      columns={[
        { title: "Type", cell: ({ type }) => <ForeignLine text={type} /> },
        { title: "Issuer", cell: ({ credential }) => <ShortId id={getIssuer(credential)} /> },
        { title: "Issued", cell: ({ issued_at }) => <TimeText at={issued_at} /> },
        { title: "State", cell: ({ revoked }) => (revoked ? "revoked" : "in force") },
        { title: "Id", cell: ({ credential_id }) => <ShortId id={credential_id} /> },
      ]}
    />
  );
}

function getIssuer({ issuer }: Readonly<Record<string, unknown>>): string {
  const named = isJsonObject(issuer) ? issuer["id"] : issuer;
  return typeof named === "string" ? named : "unknown";
}

function TrustRecords({ agentId }: { agentId: string }) {
  const loadPage = useListPages("listTrust", { params: { agentId } }, getRecords);
  return (
    <PageTable
      caption="Agents that your agent has delegated to"
      loadPage={loadPage}
      rowKey={({ remote_agent_id }) => remote_agent_id}
      tone={({ trust_level }) => (trust_level === "blocked" ? "bad" : undefined)}
      empty="Your agent has not delegated to another agent yet."
      columns={[
        { title: "Agent", cell: ({ remote_agent_id }) => <ShortId id={remote_agent_id} /> },
        { title: "Level", cell: ({ trust_level }) => trust_level.replaceAll("_", " ") },
        { title: "Trust", isNumber: true, cell: ({ trust_score }) => showPercent(trust_score) },
        { title: "Done", isNumber: true, cell: ({ successful_tasks }) => successful_tasks },
        { title: "Failed", isNumber: true, cell: ({ failed_tasks }) => failed_tasks },
        {
          title: "Average time",
          isNumber: true,
          cell: ({ avg_latency_ms }) =>
            avg_latency_ms === null ? "–" : showDuration(avg_latency_ms),
        },
        { title: "Last seen", cell: ({ last_seen_at }) => <TimeText at={last_seen_at} /> },
      ]}
    />
  );
}
