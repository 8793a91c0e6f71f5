import type { AuditEvent } from "../../../../src/audit/events.ts";
import type { OperationName } from "../../api.ts";

export interface Action {
	/** The group of the action in the audit log's filter. */
	group: keyof typeof GROUPS;
	/**
	 * The words between the actor and the name of the record. By default, they are made from the name
	 * of the action. `{kind}` stands for the kind of the record, such as "risk".
	 */
	phrase?: string;
	/** The action in words, if the words of its name would mislead people. */
	title?: string;
	/** True if the actor is also the record, so that naming the record would repeat the name. */
	isAboutActor?: true;
}

/** The groups of actions in the filter of the audit log. */
export const GROUPS = {
	devices: "Devices",
	members: "Members and tokens",
	organization: "Organization and records",
	accounts: "Accounts",
	agents: "Agents",
};

/** Words for some of the audit events and operations. */
export type Actions = Partial<Record<AuditEvent | OperationName, Action>>;
