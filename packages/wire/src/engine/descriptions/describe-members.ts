import { agentMembers } from "./agent-members.ts";
import { evidenceMembers } from "./evidence-members.ts";
import { federationMembers } from "./federation-members.ts";
import { moneyMembers } from "./money-members.ts";
import { taskMembers } from "./task-members.ts";
import { timeMembers } from "./time-members.ts";

/** Only names with the same meaning in the whole contract; other members are described in their schemas. */
const descriptions = new Map(
  [
    agentMembers,
    evidenceMembers,
    federationMembers,
    moneyMembers,
    taskMembers,
    timeMembers,
  ].flatMap((table) => Object.entries(table)),
);

/**
 * Adds the description of each member's name to the JSON Schemas of an object's members, unless a schema
 * has its own.
 */
export function describeMembers<Member extends object | boolean>(
  members: Readonly<Record<string, Member>>,
): Record<string, Member> {
  return Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, describeMember(name, schema)]),
  );
}

function describeMember<Member extends object | boolean>(name: string, schema: Member): Member {
  const description = descriptions.get(name);
  if (description === undefined || typeof schema !== "object") return schema;
  return { description, ...schema };
}
