import { Fragment } from "react";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../links.tsx";
import { CHECK_STATES } from "./device-words.tsx";
import { SHOWN_STATES, type ShownState } from "./state-bar.tsx";

/** The numbers of devices by their state for a check, as every tool returns them. */
export type CountedCheck = Pick<
	OutputOf<"getCheckResults">["checks"][number],
	"check_key" | "check_name" | "states"
>;

export const nameOfCheck = ({ check_name, check_key }: CountedCheck) =>
	check_name ?? check_key;

/** Returns the states that some device has, the best first. */
export const statesOf = ({ states }: CountedCheck) =>
	(Object.keys(SHOWN_STATES) as ShownState[]).filter(
		(state) => states[state] > 0,
	);

/** Returns true if the policy requires the check of at least one active device. */
export const isRequired = (check: CountedCheck) => statesOf(check).length > 0;

/** Shows, for example, "187 passing · 13 past grace". Each number links to its devices. */
export function StatesInWords({ check }: { check: CountedCheck }) {
	const passing = check.states.PASSING === 0 ? ["0 passing"] : [];
	const links = statesOf(check).map((state) => (
		<StateLink key={state} check={check} state={state} isInline />
	));
	return [...passing, ...links].map((part, at) => (
		// biome-ignore lint/suspicious/noArrayIndexKey: the parts have no identity of their own.
		<Fragment key={at}>
			{at > 0 && " · "}
			{part}
		</Fragment>
	));
}

/** Shows, for example, "13 past grace", with a link to these devices. */
export function StateLink({
	check,
	state,
	isInline = false,
}: {
	check: CountedCheck;
	state: ShownState;
	/** True in a text, of which the link has the size and the color. */
	isInline?: boolean;
}) {
	const { organizationId } = useOrganization();
	const words = `${check.states[state].toLocaleString()} ${CHECK_STATES[state].toLowerCase()}`;
	return (
		<TextLink
			to="/o/$org/devices"
			params={{ org: organizationId }}
			search={{
				status: "ACTIVE",
				check_state: state,
				check: check.check_key,
			}}
			aria-label={`${nameOfCheck(check)}: ${words}`}
			{...(isInline
				? ({ inherit: true, c: "inherit", underline: "always" } as const)
				: // The least height of a target, WCAG 2.5.8.
					({
						size: "sm",
						lh: "24px",
						style: { whiteSpace: "nowrap" },
					} as const))}
		>
			{words}
		</TextLink>
	);
}
