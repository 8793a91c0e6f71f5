import { useQuery } from "@tanstack/react-query";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { operationQuery } from "../../queries.ts";

export type StepKey =
	OutputOf<"getOrganization">["organization"]["skipped_steps"][number];

export interface Step {
	key: StepKey;
	title: string;
	why: string;
	/** True if the organization has what the step asks for. */
	isDone: boolean;
	/** True if its administrators leave the step out. */
	isSkipped: boolean;
}

/** Facts that the page with the steps has already read. */
export interface Held {
	hasDevices: boolean;
	hasRecords: boolean;
}

/**
 * Returns the first steps of a new organization that the reader can take. A step is done when the
 * organization has what the step asks for, however it got there. Returns undefined while that is
 * not known.
 */
export function useFirstSteps({ hasDevices, hasRecords }: Held) {
	const { organization, organizationId, mayWrite, mayAdmin } =
		useOrganization();
	const organization_id = organizationId;
	const tokens = useQuery(operationQuery("listApiTokens", {}));
	const members = useQuery(
		operationQuery("listMembers", { organization_id, size: 2 }),
	);
	const hasMembers = (members.data?.members.length ?? 0) > 1;
	// Invitations only matter while nobody has joined.
	const asksInvitations = mayAdmin && members.isFetched && !hasMembers;
	const invitations = useQuery({
		...operationQuery("listInvitations", { organization_id }),
		enabled: asksInvitations,
	});
	const isKnown =
		tokens.isFetched &&
		members.isFetched &&
		(!asksInvitations || invitations.isFetched);
	if (!isKnown) return undefined;
	const isSkipped = (key: StepKey) => organization.skipped_steps.includes(key);
	const step = (
		key: StepKey,
		isOffered: boolean,
		isDone: boolean,
		words: Pick<Step, "title" | "why">,
	): Step[] =>
		isOffered ? [{ key, isDone, isSkipped: isSkipped(key), ...words }] : [];
	return [
		...step("RECORDS", mayWrite, hasRecords, {
			title: "Choose what to comply with",
			why: "Take a framework, or none, and the measures and risks that you want to begin with.",
		}),
		...step("DEVICE", mayAdmin, hasDevices, {
			title: "Install the agent on this computer",
			why: "It reports whether the disk is encrypted, the screen locks and more.",
		}),
		...step(
			"PEOPLE",
			mayAdmin,
			hasMembers || (invitations.data?.invitations.length ?? 0) > 0,
			{
				title: "Invite your colleagues",
				why: "Members edit the registers. Viewers, such as auditors, only read.",
			},
		),
		// A token that has expired or was revoked still counts, because the reader has done this step.
		...step("API_TOKEN", true, (tokens.data?.api_tokens.length ?? 0) > 0, {
			title: "Create an API token",
			why: "An AI client or a script can then work here with exactly your permissions.",
		}),
	];
}

/** Returns true if nothing is left to do in a step. */
export const isOver = ({ isDone, isSkipped }: Step) => isDone || isSkipped;

/** Returns true for a skipped step. A step that was done all the same is not left out. */
export const isLeftOut = ({ isDone, isSkipped }: Step) => isSkipped && !isDone;

/** Returns how far the reader is, such as "3 of 5 done, 1 skipped". */
export function progressOf(steps: readonly Step[]): string {
	const done = steps.filter(({ isDone }) => isDone).length;
	const skipped = steps.filter(isLeftOut).length;
	return `${done} of ${steps.length} done${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
