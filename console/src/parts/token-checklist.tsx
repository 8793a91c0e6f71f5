import { Checkbox, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { operationQuery } from "../queries.ts";
import { ErrorState } from "./error-state.tsx";
import { RelativeTime } from "./time.tsx";

/** The value of the checkbox that stands for all tokens. No token has this id. */
const ALL = "all";

/** Loads the user's valid API tokens and keeps which ones are ticked. */
export function useTokenChecklist(atFirst: "none" | "all") {
	const { data, error, isPending, refetch } = useQuery(
		operationQuery("listApiTokens", {}),
	);
	/** The ids that the user has ticked, or null before the first change. */
	const [chosen, setChosen] = useState<readonly string[] | null>(null);
	const tokens = (data?.api_tokens ?? []).filter(
		({ status }) => status === "ACTIVE",
	);
	return {
		tokens,
		tickedIds: tokens
			.map(({ id }) => id)
			.filter((id) => chosen?.includes(id) ?? atFirst === "all"),
		tick: setChosen,
		error,
		isPending,
		refetch,
	};
}

/**
 * Lists the user's valid API tokens with a checkbox for each, and one for all of them if there are
 * several. Renders nothing if there are none.
 */
export function TokenChecklist({
	checklist: { tokens, tickedIds, tick, error, refetch },
	label,
	description,
}: {
	checklist: ReturnType<typeof useTokenChecklist>;
	label: string;
	description: string;
}) {
	if (error) return <ErrorState error={error} onRetry={refetch} />;
	if (tokens.length === 0) return null;
	const isAll = tickedIds.length === tokens.length;
	return (
		<Checkbox.Group
			label={label}
			description={description}
			value={isAll ? [ALL, ...tickedIds] : tickedIds}
			onChange={(values) => {
				const isAllTicked = values.includes(ALL);
				if (isAllTicked === isAll) tick(values.filter((id) => id !== ALL));
				else tick(isAllTicked ? tokens.map(({ id }) => id) : []);
			}}
		>
			<Stack gap="xs" mt="xs">
				{tokens.length > 1 && (
					<Checkbox
						value={ALL}
						label={`All ${tokens.length.toLocaleString()} tokens`}
						indeterminate={tickedIds.length > 0 && !isAll}
					/>
				)}
				{tokens.map(({ id, name, created_at }) => (
					<Checkbox
						key={id}
						value={id}
						label={
							<>
								{name}, created <RelativeTime value={created_at} />
							</>
						}
					/>
				))}
			</Stack>
		</Checkbox.Group>
	);
}
