import { Group, Select, Text, TextInput } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { InputOf, OutputOf } from "../../api.ts";
import { type ListControls, useListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { dayAfter, endOfDay, startOfDay, todayHere } from "../../parts/days.ts";
import { namesApart } from "../../parts/devices/device-name.ts";
import {
	type PostureStatus,
	postureLabel,
} from "../../parts/devices/device-words.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { filterWidth } from "../../parts/filter-width.ts";
import { TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { ListError, Pager } from "../../parts/pager.tsx";
import { ExportButton } from "../../parts/records/export-button.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";
import { checkLabel, inOrder } from "./checks.ts";
import { ToDevices } from "./to-devices.tsx";

type Answer = OutputOf<"listPostureSpans">;
type Held = Answer["posture_spans"][number]["held"];
type Row = Answer["posture_spans"][number] & { id: string };

const DEFAULT_DAYS = 30;
const STATUSES = [
	"FAIL",
	"UNKNOWN",
	"PASS",
	"NOT_APPLICABLE",
] as const satisfies readonly PostureStatus[];

const HELD = {
	SEEN: { label: "Seen", tone: "active" },
	MAY_HAVE_HELD: { label: "Possible", tone: "neutral" },
} as const satisfies Record<Held, { label: string; tone: string }>;

/** Lists the devices on which a check had a status at some time in a period. */
export function Page() {
	const { organizationId } = useOrganization();
	const list = useListSearch();
	const asked = questionOf(list);
	const { cursor, size } = list.search;
	const input = {
		organization_id: organizationId,
		check_key: asked.check,
		status: asked.status,
		from: startOfDay(asked.from),
		until: endOfDay(asked.until),
		...(asked.held ? { held: asked.held } : {}),
	} satisfies InputOf<"listPostureSpans">;
	const isInOrder = asked.from <= asked.until;
	const spans = useQuery({
		...operationQuery("listPostureSpans", {
			...input,
			...(cursor ? { cursor } : {}),
			...(size ? { size } : {}),
		}),
		placeholderData: keepPreviousData,
		enabled: isInOrder,
	});
	const rows = (spans.data?.posture_spans ?? []).map((span) => ({
		...span,
		id: `${span.device_id} ${span.since}`,
	}));
	return (
		<>
			<PageHeader
				title="Fleet in a period"
				isWide
				parent={<ToDevices />}
				description="The devices on which a check had a status at some time in a period, with every span of time."
				actions={
					isInOrder && (
						<ExportButton operation="listPostureSpans" input={input} />
					)
				}
			/>
			<Question list={list} />
			{isInOrder && (
				<>
					<Counts answer={spans.data} />
					{spans.isPending && <RowsSkeleton />}
					{spans.isError && (
						<ListError
							error={spans.error}
							onRetry={spans.refetch}
							list={list}
						/>
					)}
					{spans.isSuccess && rows.length === 0 && (
						<EmptyState title="No device had this status in the period">
							Choose another check, status or period.
						</EmptyState>
					)}
				</>
			)}
			{isInOrder && rows.length > 0 && spans.data && (
				<>
					<DataTable
						label="Devices in the period"
						columns={columnsOf(organizationId, namesIn(rows))}
						rows={rows}
						isStale={spans.isPlaceholderData}
					/>
					<Pager list={list} page={spans.data} shown={rows.length} />
				</>
			)}
		</>
	);
}

/** Returns the question that the address asks. Each part that it leaves out has a usual value. */
function questionOf({ filters }: ListControls) {
	const text = (name: string) => {
		const value = filters[name];
		return typeof value === "string" && value !== "" ? value : undefined;
	};
	const day = (name: string) => {
		const value = text(name) ?? "";
		return Number.isNaN(Date.parse(`${value}T00:00:00`)) ? undefined : value;
	};
	const until = day("until") ?? todayHere();
	return {
		check: text("check") ?? "DISK_ENCRYPTION",
		status: STATUSES.find((one) => one === text("status")) ?? "FAIL",
		from: day("from") ?? dayAfter(until, -DEFAULT_DAYS),
		until,
		held: (Object.keys(HELD) as Held[]).find((one) => one === text("held")),
	};
}

function Question({ list }: { list: ListControls }) {
	const { check, status, from, until, held } = questionOf(list);
	const today = todayHere();
	const checks = inOrder([check]);
	return (
		<Group align="flex-start" gap="sm" mb="md">
			<Select
				label="Check"
				allowDeselect={false}
				{...filterWidth(280)}
				data={checks.map((key) => ({ value: key, label: checkLabel(key) }))}
				value={check}
				onChange={(value) => list.setFilter("check", value ?? undefined)}
			/>
			<Select
				label="Status"
				allowDeselect={false}
				{...filterWidth(150)}
				data={STATUSES.map((one) => ({ value: one, label: postureLabel(one) }))}
				value={status}
				onChange={(value) => list.setFilter("status", value ?? undefined)}
			/>
			<TextInput
				type="date"
				label="From"
				max={today}
				value={from}
				error={from > until && "Choose a day that is not after the last one."}
				onChange={({ currentTarget: { value } }) =>
					list.setFilter("from", value || undefined)
				}
			/>
			<TextInput
				type="date"
				label="Until"
				max={today}
				value={until}
				onChange={({ currentTarget: { value } }) =>
					list.setFilter("until", value || undefined)
				}
			/>
			<Select
				label="Proof"
				allowDeselect={false}
				{...filterWidth(170)}
				data={[
					{ value: "", label: "Seen or possible" },
					...Object.entries(HELD).map(([value, { label }]) => ({
						value,
						label: `${label} only`,
					})),
				]}
				value={held ?? ""}
				onChange={(value) => list.setFilter("held", value || undefined)}
			/>
		</Group>
	);
}

/** Counts the devices and says what the counts mean. Only the first page has the counts. */
function Counts({ answer }: { answer: Answer | undefined }) {
	const seen = answer?.devices_seen ?? null;
	const further = answer?.devices_that_may_have ?? null;
	const { total = 0, total_is_exact: isExact = true } = answer ?? {};
	return (
		<Text size="sm" c="dimmed" mb="md" role="status">
			{seen !== null && further !== null && (
				<>
					<Text span inherit fw={600} c="var(--mantine-color-text)">
						{devices(seen)}
					</Text>{" "}
					seen with this status
					{further > 0 && `, ${devices(further)} more possible`}.{" "}
					{total > seen + further &&
						`${isExact ? "" : "More than "}${total.toLocaleString()} rows, one for each span of time. `}
				</>
			)}
			“Seen” means that a report in the period had the status, or the reports
			before and after it. “Possible” means that the status was reported only
			before or after, or the device was silent.
		</Text>
	);
}

const namesIn = (rows: readonly Row[]) =>
	namesApart(
		rows.map(({ device_id: id, device_name: name }) => ({ id, name })),
	);

const devices = (count: number) =>
	count === 1 ? "1 device" : `${count.toLocaleString()} devices`;

const columnsOf = (
	organizationId: string,
	names: ReadonlyMap<string, string>,
): readonly Column<Row>[] => [
	{
		id: "device",
		header: "Device",
		width: 240,
		cell: ({ device_id, device_status }) => (
			<>
				<TextLink
					to="/o/$org/devices/$id"
					params={{ org: organizationId, id: device_id }}
					search={{ tab: "history" }}
					size="sm"
					fw={500}
				>
					{names.get(device_id)}
				</TextLink>
				{device_status === "REVOKED" && (
					<Text size="xs" c="dimmed">
						Revoked
					</Text>
				)}
			</>
		),
	},
	{
		id: "owner",
		header: "Owner",
		width: 160,
		cell: ({ owner_name }) => <Text size="sm">{owner_name ?? "–"}</Text>,
	},
	{
		id: "held",
		header: "Proof",
		width: 110,
		cell: ({ held }) => <StatusBadge {...HELD[held]} />,
	},
	{
		id: "since",
		header: "Since",
		width: 190,
		cell: ({ since }) => <DateTime value={since} />,
	},
	{
		id: "last",
		header: "Last report with it",
		width: 190,
		cell: ({ last_observed_at }) => <DateTime value={last_observed_at} />,
	},
	{
		id: "until",
		header: "Until",
		width: 190,
		cell: ({ until, device_revoked_at: revokedAt }) =>
			until ? (
				<DateTime value={until} />
			) : revokedAt ? (
				<Text size="sm">
					revoked <DateTime value={revokedAt} />
				</Text>
			) : (
				<Text size="sm">not ended</Text>
			),
	},
];
