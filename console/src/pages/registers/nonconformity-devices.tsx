import { Group, SegmentedControl, Text, Title } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { CardTable } from "../../parts/card-table.tsx";
import { namesApart } from "../../parts/devices/device-name.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { DateTime } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";
import { PageButtons } from "./page-buttons.tsx";

type Place =
	OutputOf<"listNonconformityDevices">["nonconformity_devices"][number];

const END_REASONS: Record<NonNullable<Place["end_reason"]>, string> = {
	PASSED: "passed",
	NOT_APPLICABLE: "no longer applies",
	EXCEPTED: "excepted",
	REVOKED: "device revoked",
	DEVICE_DELETED: "device deleted",
	POLICY: "policy changed",
	CLOSED: "closed by a person",
	DELETED: "deleted by a person",
};

/** Lists the devices for which the service opened the nonconformity. Shows nothing without any. */
export function NonconformityDevices({ id }: { id: string }) {
	const { organizationId } = useOrganization();
	const [which, setWhich] = useState("all");
	const [cursors, setCursors] = useState<string[]>([]);
	const cursor = cursors.at(-1);
	const found = useQuery({
		...operationQuery("listNonconformityDevices", {
			id,
			...(which !== "all" && { is_failing: which === "failing" }),
			...(cursor && { cursor }),
		}),
		placeholderData: keepPreviousData,
	});
	if (found.isError) {
		return <ErrorState error={found.error} onRetry={found.refetch} />;
	}
	const rows = found.data?.nonconformity_devices ?? [];
	if (rows.length === 0 && which === "all") return null;
	const names = namesApart(
		rows.flatMap(({ device_id: id, device_name: name }) =>
			id ? { id, name } : [],
		),
	);
	return (
		<section aria-label="Devices">
			<Group justify="space-between" mb="sm">
				<Title order={2}>Devices</Title>
				<SegmentedControl
					size="xs"
					aria-label="Which devices"
					value={which}
					onChange={(value) => {
						setCursors([]);
						setWhich(value);
					}}
					data={[
						{ value: "all", label: "All" },
						{ value: "failing", label: "Still failing" },
						{ value: "over", label: "Over" },
					]}
				/>
			</Group>
			<CardTable
				label="Table of the devices"
				minWidth={640}
				columns={["Device", "Owner", "Failing since", "Until", "Why it ended"]}
				rows={rows.map((place) => ({
					key: `${place.device_id} ${place.since}`,
					cells: [
						place.device_id ? (
							<TextLink
								key="device"
								to="/o/$org/devices/$id"
								params={{ org: organizationId, id: place.device_id }}
								search={{ tab: "history", check: place.check_key }}
								size="sm"
							>
								{names.get(place.device_id)}
							</TextLink>
						) : (
							"A deleted device"
						),
						place.owner_name ?? "–",
						<DateTime key="since" value={place.failing_since} />,
						place.until ? (
							<DateTime key="until" value={place.until} />
						) : (
							"still failing"
						),
						place.end_reason ? END_REASONS[place.end_reason] : "–",
					],
				}))}
			/>
			{rows.length === 0 && <Text size="sm">No device.</Text>}
			<PageButtons
				cursors={cursors}
				onChange={setCursors}
				next={found.data?.next_cursor ?? null}
			/>
		</section>
	);
}
