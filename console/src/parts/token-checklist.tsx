import { Checkbox, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { operationQuery } from "../queries.ts";
import { ErrorState } from "./error-state.tsx";
import { RelativeTime } from "./time.tsx";

/** Loads the user's valid API tokens and keeps which ones are ticked. At first, all of them are. */
export function useTokenChecklist() {
	const { data, error, isPending, refetch } = useQuery(
		operationQuery("listApiTokens", {}),
	);
	const [unticked, setUnticked] = useState<readonly string[]>([]);
	const tokens = (data?.api_tokens ?? []).filter(
		({ status }) => status === "ACTIVE",
	);
	return {
		tokens,
		tickedIds: tokens
			.map(({ id }) => id)
			.filter((id) => !unticked.includes(id)),
		toggle: (id: string, isTicked: boolean) =>
			setUnticked((ids) =>
				isTicked ? ids.filter((one) => one !== id) : [...ids, id],
			),
		error,
		isPending,
		refetch,
	};
}

/**
 * Lists the user's valid API tokens with a checkbox for each. Renders nothing if there are none.
 */
export function TokenChecklist({
	checklist: { tokens, tickedIds, toggle, error, refetch },
	label,
	description,
}: {
	checklist: ReturnType<typeof useTokenChecklist>;
	label: string;
	description: string;
}) {
	if (error) return <ErrorState error={error} onRetry={refetch} />;
	if (tokens.length === 0) return null;
	return (
		<Checkbox.Group label={label} description={description} value={tickedIds}>
			<Stack gap="xs" mt="xs">
				{tokens.map(({ id, name, created_at }) => (
					<Checkbox
						key={id}
						value={id}
						label={
							<>
								{name}, created <RelativeTime value={created_at} />
							</>
						}
						onChange={({ currentTarget: { checked } }) => toggle(id, checked)}
					/>
				))}
			</Stack>
		</Checkbox.Group>
	);
}
