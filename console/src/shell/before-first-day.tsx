import { dayAfter, formatDay, todayHere } from "../parts/days.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ButtonLink } from "../parts/links.tsx";
import { NOW } from "../past.ts";

/** Says that nothing is known about a day, and leads to the first day about which something is. */
export function BeforeFirstDay({
	day,
	first,
	toDay = (to) => ({ cursor: undefined, as_of: to ?? NOW }),
}: {
	day: string;
	first: string;
	/** Returns what the address has for a past day, or for the present. */
	toDay?: (day: string | undefined) => object;
}) {
	const hasPast = first < todayHere();
	return (
		<EmptyState
			title={`Nothing is known about ${formatDay(day)}`}
			actions={
				<ButtonLink
					to="."
					search={
						((before: object) => ({
							...before,
							...toDay(hasPast ? first : undefined),
						})) as never
					}
				>
					{hasPast ? `Show ${formatDay(first)}` : "Show the present"}
				</ButtonLink>
			}
		>
			{firstDaySentence(first)}
		</EmptyState>
	);
}

/** Says which days can be shown. */
export function firstDaySentence(first: string): string {
	return first < todayHere()
		? `Assay keeps the past of this organization since ${formatDay(first)}.`
		: `Assay keeps the past of this organization since today, so ${formatDay(dayAfter(first, 1))} is the first day on which a past day can be shown.`;
}
