import { Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { OLD_TOKEN_DAYS } from "../../../../src/tokens/old-token.ts";
import { DAY_MS } from "../../../../src/units.ts";
import type { OutputOf } from "../../api.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { toolsetLabel } from "../../parts/toolset-label.ts";
import { organizationsQuery } from "../../queries.ts";

export type ApiToken = OutputOf<"listApiTokens">["api_tokens"][number];

/** A token that expires within these days gets a warning. */
const EXPIRY_WARNING_DAYS = 14;
/** The number of days in the server's statistics, including today. */
export const USAGE_DAYS = 30;

/** Shows whether the token works, and warnings about it. */
export function TokenState({ token }: { token: ApiToken }) {
	if (token.status === "REVOKED") {
		return <StatusBadge tone="neutral" label="Revoked" />;
	}
	if (token.status === "EXPIRED") {
		return <StatusBadge tone="neutral" label="Expired" />;
	}
	const daysLeft = token.expires_at
		? Math.ceil((Date.parse(token.expires_at) - Date.now()) / DAY_MS)
		: Number.POSITIVE_INFINITY;
	const warnings = [
		...(daysLeft <= EXPIRY_WARNING_DAYS
			? [daysLeft <= 1 ? "Expires within a day" : `Expires in ${daysLeft} days`]
			: []),
		...(token.is_old ? [`Older than ${OLD_TOKEN_DAYS} days`] : []),
		...(token.is_made_without_provider ? ["Made without the provider"] : []),
	];
	return (
		<Group gap={4}>
			<StatusBadge tone="good" label="Active" />
			{warnings.map((label) => (
				<StatusBadge key={label} tone="warning" label={label} />
			))}
		</Group>
	);
}

/**
 * Says what the token may do, and in which organizations. With `isBrief`, it leaves out where the
 * token has no limit.
 */
export function Scopes({
	token: { scopes },
	isBrief = false,
}: {
	token: ApiToken;
	isBrief?: boolean;
}) {
	const { data: organizations = [] } = useQuery(organizationsQuery);
	const nameOf = (id: string) =>
		organizations.find((one) => one.id === id)?.name ?? id;
	const write = "Read and write";
	const parts = [
		scopes.read_only
			? "Read only"
			: isBrief
				? write
				: `${write}, within the role of its user`,
		scopes.toolsets
			? `only ${scopes.toolsets.map(toolsetLabel).join(", ")}`
			: !isBrief && "all tools",
		scopes.organization_ids
			? `in ${scopes.organization_ids.map(nameOf).join(", ")}`
			: !isBrief && "in every organization of its user",
	];
	return parts.filter((part) => part !== false).join("; ");
}

export function totalsOf({ usage }: ApiToken): {
	calls: number;
	errors: number;
} {
	let calls = 0;
	let errors = 0;
	for (const day of usage.days) {
		calls += day.calls;
		errors += day.errors;
	}
	return { calls, errors };
}

export interface DayOfUse {
	/** The day in UTC, as YYYY-MM-DD. The server counts calls by UTC days. */
	day: string;
	calls: number;
	errors: number;
}

/** Returns the last 30 days, oldest first, including days without calls. */
export function everyDay({ usage }: ApiToken, nowMs: number): DayOfUse[] {
	const byDay = new Map(usage.days.map((used) => [used.day, used]));
	return Array.from({ length: USAGE_DAYS }, (_, index) => {
		const atMs = nowMs - (USAGE_DAYS - 1 - index) * DAY_MS;
		const day = new Date(atMs).toISOString().slice(0, 10);
		return byDay.get(day) ?? { day, calls: 0, errors: 0 };
	});
}
