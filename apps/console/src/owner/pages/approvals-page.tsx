import { useCallback, useState } from "preact/hooks";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import { FactList } from "../../shared/components/fact-list.tsx";
import { PageButtons } from "../../shared/components/page-buttons.tsx";
import { PageTable } from "../../shared/components/page-table.tsx";
import {
  ForeignLine,
  IdCode,
  QuotedText,
  ShortId,
  TimeText,
} from "../../shared/components/foreign-text.tsx";
import { showText } from "../../shared/format/show-text.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { AskDialog } from "../ask-dialog.tsx";
import { signVoteByKey } from "../device/sign-vote.ts";
import { useOwnerContext } from "../owner-context.ts";
import { useVotableApprovals } from "../use-votable-approvals.ts";
import { compareArguments, type ArgumentsVerdict } from "../views/compare-arguments.ts";
import { describeVote } from "../views/describe-vote.ts";
import type { ShownApproval } from "./load-votable.ts";

type Decision = "approve" | "deny";

/** The calls that wait for this approver's vote, and the outcomes of the others. */
export function ApprovalsPage() {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const waiting = useVotableApprovals(cursors.at(-1));
  const [turn, setTurn] = useState(0);
  const reload = () => {
    waiting.reload();
    setTurn(turn + 1);
  };
  return (
    <>
      <h2>Waiting for your vote</h2>
      <AnswerView answer={waiting}>
        {({ known, isCut, unknown, next }) => (
          <>
            {known.length + unknown.length + cursors.length === 0 && (
              <p class="empty">No call waits for your vote.</p>
            )}
            <ApprovalArticles approvals={known} onVoted={reload} />
            {isCut && <p class="hint">More calls of these agents wait than this page can show.</p>}
            {unknown.length > 0 && (
              <p class="hint">
                Your agent has never delegated to the following agents or approved a call of theirs,
                so check whether one of them is yours. Only the newest call of each is shown. The
                agents whose tasks earned this relay the most fees come first.
              </p>
            )}
            <ApprovalArticles approvals={unknown} onVoted={reload} />
            <PageButtons
              label="Pages of calls of unknown agents"
              cursors={cursors}
              next={next}
              onMove={setCursors}
            />
          </>
        )}
      </AnswerView>
      <VotingKey />
      <h2>Earlier calls</h2>
      <PastApprovals key={turn} />
    </>
  );
}

function ApprovalArticles({
  approvals,
  onVoted,
}: {
  readonly approvals: readonly ShownApproval[];
  readonly onVoted: () => void;
}) {
  return (
    <>
      {approvals.map((approval) => (
        <ApprovalArticle
          key={`${approval.agent_id} ${approval.approval_id}`}
          approval={approval}
          onVoted={onVoted}
        />
      ))}
    </>
  );
}

function ApprovalArticle({ approval, onVoted }: { approval: ShownApproval; onVoted: () => void }) {
  const { device } = useOwnerContext();
  const [decision, setDecision] = useState<Decision>();
  const { tool_name, agent_id, args_hash, quorum_required, created_at, approval_id } = approval;
  const { approving } = describeVote(approval, device.agentId);
  const heading = `approval-${approval_id}`;
  return (
    <article class="approval" aria-labelledby={heading} data-approval={approval_id}>
      <h3 id={heading}>
        May <IdCode id={agent_id} /> call <QuotedText text={tool_name} />?
      </h3>
      <FactList
        facts={[
          ["Requested", <TimeText at={created_at} />],
          ["Votes", `${approving} of ${quorum_required} needed`],
          ["Hash of the arguments", <code>{args_hash}</code>],
        ]}
      />
      {approval.arguments === undefined ? (
        <ArgumentsCheck argsHash={args_hash} />
      ) : (
        <ShownArguments text={JSON.stringify(approval.arguments, null, 2)} argsHash={args_hash} />
      )}
      <div class="buttons">
        <button type="button" onClick={() => setDecision("deny")}>
          Deny …
        </button>
        <button type="button" class="button" onClick={() => setDecision("approve")}>
          Approve …
        </button>
      </div>
      {decision !== undefined && (
        <VoteDialog
          approval={approval}
          decision={decision}
          onClose={(isDone) => {
            setDecision(undefined);
            if (isDone) onVoted();
          }}
        />
      )}
    </article>
  );
}

const VERDICTS: { readonly [Verdict in ArgumentsVerdict]: string } = {
  same: "✓ These are the arguments of this call.",
  different: "✗ These are not the arguments of this call.",
  ambiguous:
    "✗ These arguments are ambiguous: a member occurs twice, or a number has more digits than the call keeps.",
  not_json: '✗ The arguments must be a JSON object, such as {"amount": 5}.',
};

/** The full arguments that the agent showed, as omitted parts would be approved unseen; marks a wrong hash. */
function ShownArguments({ text, argsHash }: { text: string; argsHash: string }) {
  const verdict = compareArguments(text, argsHash);
  return (
    <>
      <p>With these arguments:</p>
      <pre data-arguments>
        <bdi>{showText(text)}</bdi>
      </pre>
      <p class={verdict === "same" ? "good" : "bad"} data-verdict={verdict}>
        {verdict === "same" ? "✓ Your vote signs the hash of these arguments." : VERDICTS.different}
      </p>
    </>
  );
}

/** If the relay only knows the hash of the arguments, the owner compares those that the agent gave. */
function ArgumentsCheck({ argsHash }: { argsHash: string }) {
  const [text, setText] = useState("");
  const verdict = text.trim() === "" ? undefined : compareArguments(text, argsHash);
  return (
    <details>
      <summary>Compare the hash with the arguments that you were given</summary>
      <label>
        Arguments as JSON; they stay in this browser
        <textarea rows={3} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {verdict !== undefined && (
        <p role="status" class={verdict === "same" ? "good" : "bad"} data-verdict={verdict}>
          {VERDICTS[verdict]}
        </p>
      )}
    </details>
  );
}

function VoteDialog({
  approval,
  decision,
  onClose,
}: {
  approval: ShownApproval;
  decision: Decision;
  onClose: (isDone: boolean) => void;
}) {
  const { relay } = usePageContext();
  const { device, relayDid } = useOwnerContext();
  const { tool_name, agent_id, args_hash, approval_id: approvalId } = approval;
  const vote = async () => {
    const ballot = { approver_id: device.agentId, decision, relay: relayDid };
    const body = await signVoteByKey(approval, ballot, device.key.privateKey);
    return relay.call("voteOnApproval", { params: { agentId: agent_id, approvalId }, body });
  };
  const isYes = decision === "approve";
  return (
    <AskDialog
      title={isYes ? "Approve this call?" : "Deny this call?"}
      verb={isYes ? "Sign and approve" : "Sign and deny"}
      consequence={
        <p>
          Agent <IdCode id={agent_id} /> {isYes ? "may then call" : "may then not call"}{" "}
          <QuotedText text={tool_name} />{" "}
          {isYes && (
            <>
              once, with exactly the arguments whose hash is <code>{args_hash}</code>
            </>
          )}
          . The key of this browser signs your vote, which cannot be taken back.
        </p>
      }
      run={vote}
      onClose={onClose}
    />
  );
}

/** Shows the entry that an agent's policy needs so that votes from this browser count. */
function VotingKey() {
  const { agentId, key } = useOwnerContext().device;
  const approver = JSON.stringify({ agent_id: agentId, public_key: key.publicKey });
  return (
    <details>
      <summary>Whose calls may this browser approve?</summary>
      <p>
        The calls of agents whose configuration names this browser in{" "}
        <code>policy.quorum.approvers</code>, with the entry below. An agent verifies the votes
        itself, with the key in that entry.
      </p>
      <pre>{approver}</pre>
    </details>
  );
}

function PastApprovals() {
  const { agentId } = useOwnerContext().device;
  const takeDecided = useCallback(
    ({ approvals }: BodyOf<"listApprovals">) =>
      approvals.filter((each) => !describeVote(each, agentId).mayVote),
    [agentId],
  );
  const request = { params: { agentId }, query: { as: "approver" } };
  const loadPage = useListPages("listApprovals", request, takeDecided);
  return (
    <PageTable
      caption="Approvals that no longer wait for you"
      loadPage={loadPage}
      rowKey={({ agent_id, approval_id }) => `${agent_id} ${approval_id}`}
      empty="There are none yet."
      tone={({ status }) => (status === "denied" ? "bad" : undefined)}
      columns={[
        { title: "Tool", cell: ({ tool_name }) => <ForeignLine text={tool_name} /> },
        { title: "Agent", cell: ({ agent_id }) => <ShortId id={agent_id} /> },
        {
          title: "Your vote",
          cell: (approval) => describeVote(approval, agentId).ownDecision ?? "none",
        },
        { title: "State", cell: ({ status }) => status },
        { title: "Requested", cell: ({ created_at }) => <TimeText at={created_at} /> },
      ]}
    />
  );
}
