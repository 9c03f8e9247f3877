import type { Operation, Operations, Scope } from "@agent/wire";
import type { PageOperation } from "../../shared/relay/operation-addresses.ts";

/** The rights that an operation requires of a token, as the contract states them. */
type RightOf<O extends Operation> = {
  readonly scope: O extends { readonly scope: infer S extends Scope } ? S : undefined;
  readonly isOnce: O extends { readonly singleUse: true } ? true : false;
};

/** The rights that an operation of the owner's page needs; the compiler compares them with the contract. */
export const ownerRights = {
  getBalance: { scope: "account:read", isOnce: false },
  listTransactions: { scope: "account:read", isOnce: false },
  getStatement: { scope: "account:read", isOnce: false },
  listWithdrawals: { scope: "account:read", isOnce: false },
  requestWithdrawal: { scope: "account:write", isOnce: true },
  listTasks: { scope: "task:read", isOnce: false },
  getTask: { scope: "task:read", isOnce: false },
  getVisibility: { scope: undefined, isOnce: false },
  listCredentials: { scope: "credentials:read", isOnce: false },
  listTrust: { scope: "credentials:read", isOnce: false },
  listApprovals: { scope: undefined, isOnce: false },
  voteOnApproval: { scope: "approvals:vote", isOnce: true },
  listDevices: { scope: undefined, isOnce: false },
  revokeDevice: { scope: "agent:write", isOnce: true },
} as const satisfies { readonly [Name in PageOperation]?: RightOf<Operations[Name]> };

export type OwnerRight = { readonly scope: Scope | undefined; readonly isOnce: boolean };
