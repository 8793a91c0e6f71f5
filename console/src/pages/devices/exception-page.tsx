import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call, type InputOf, type OutputOf } from "../../api.ts";
import { useListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { CardTable } from "../../parts/card-table.tsx";
import { Columns } from "../../parts/columns.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { namesApart } from "../../parts/devices/device-name.ts";
import { ExceptionEnd } from "../../parts/devices/exception-end.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { Fact } from "../../parts/fact.tsx";
import { TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageSkeleton } from "../../parts/page-skeleton.tsx";
import { Pager } from "../../parts/pager.tsx";
import { DateTime } from "../../parts/time.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { checkLabel } from "./checks.ts";
import { Decision } from "./exception-decision.tsx";
import {
	type DeviceException,
	ExceptionScope,
	ExceptionStatus,
} from "./exception-words.tsx";
import { ToDevices } from "./to-devices.tsx";

type Found = OutputOf<"getDeviceException">;

/** Shows an exception with everything that it ever covered, and lets administrators decide. */
export function Page() {
	const { id } = useParams({ strict: false }) as { id: string };
	const { organizationId } = useOrganization();
	const list = useListSearch();
	const { size, cursor } = list.input as { size?: number; cursor?: string };
	const found = useQuery({
		...operationQuery("getDeviceException", {
			id,
			...(size && { size }),
			...(cursor && { cursor }),
		} as InputOf<"getDeviceException">),
		placeholderData: keepPreviousData,
	});
	if (found.isPending) return <PageSkeleton />;
	if (found.isError) {
		return <ErrorState error={found.error} onRetry={found.refetch} />;
	}
	const { device_exception: exception } = found.data;
	return (
		<>
			<PageHeader
				parent={
					<>
						<ToDevices /> /{" "}
						<TextLink
							to="/o/$org/devices/exceptions"
							params={{ org: organizationId }}
							inherit
						>
							Exceptions
						</TextLink>
					</>
				}
				title={`Exception from ${checkLabel(exception.check_key)}`}
				description={
					<Group gap="xs" role="status">
						<ExceptionStatus exception={exception} />
					</Group>
				}
				actions={<Actions exception={exception} />}
			/>
			<Stack gap="lg">
				<Facts exception={exception} />
				<Decision exception={exception} whyNot={found.data.why_not_approve} />
				<section aria-label="Devices that it covered">
					<Title order={2} mb="sm">
						Devices that it covered
					</Title>
					<Covered found={found.data} />
					{found.data.covered.length > 0 && (
						<Pager
							list={list}
							page={found.data}
							shown={found.data.covered.length}
						/>
					)}
				</section>
			</Stack>
		</>
	);
}

/** Returns whether somebody has approved the exception. */
const isApproved = ({ status, decided_at }: DeviceException) =>
	decided_at !== null && status !== "REJECTED";

/** Returns the time from which the exception counts: its start, but not before it was approved. */
function startOf(exception: DeviceException): string {
	const { starts_at, decided_at } = exception;
	return isApproved(exception) &&
		decided_at &&
		Date.parse(decided_at) > Date.parse(starts_at)
		? decided_at
		: starts_at;
}

function Facts({ exception }: { exception: DeviceException }) {
	const { decided_by, requested_by_person_id, link_copied_by_id } = exception;
	return (
		<Paper withBorder p="md">
			<Columns as="dl" cols={{ base: 1, sm: 2, lg: 3 }} verticalSpacing="sm">
				<Fact name="For">
					<ExceptionScope exception={exception} />
				</Fact>
				<Fact name={isApproved(exception) ? "From" : "Wanted from"}>
					<DateTime value={startOf(exception)} />
				</Fact>
				<Fact name="Ends">
					<ExceptionEnd value={exception.ends_at} />
				</Fact>
				<Fact name="Requested by">
					{exception.requested_by?.name ?? "A former member"},{" "}
					<DateTime value={exception.created_at} />
					{requested_by_person_id &&
						(link_copied_by_id
							? ", by a link that an administrator copied"
							: ", by a link in a mail")}
				</Fact>
				{decided_by && (
					<Fact
						name={
							exception.status === "REJECTED" ? "Rejected by" : "Approved by"
						}
					>
						{decided_by.name}, <DateTime value={exception.decided_at} />
						{exception.is_self_approved &&
							(isDecidedAlone(exception)
								? ", as the only administrator, who had copied the link"
								: ", who had also requested it")}
					</Fact>
				)}
				{exception.needs_two_people && (
					<Fact name="Approval">
						Needs two people, as the device policy demanded when it was
						requested
					</Fact>
				)}
				{exception.decision_note && (
					<Fact name="Note">{exception.decision_note}</Fact>
				)}
			</Columns>
			<Text size="sm" c="dimmed" mt="md">
				Reason
			</Text>
			<Text style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
				{exception.reason}
			</Text>
		</Paper>
	);
}

/**
 * Returns true if the administrator who copied the link has decided. The service accepts their
 * approval only if there is no other administrator.
 */
const isDecidedAlone = ({ decided_by, link_copied_by_id }: DeviceException) =>
	link_copied_by_id !== null && decided_by?.user_id === link_copied_by_id;

/** Ends an exception early, or deletes one that never covered anything. */
function Actions({ exception }: { exception: DeviceException }) {
	const { organizationId, mayAdmin } = useOrganization();
	const navigate = useNavigate();
	const [asked, setAsked] = useState<"end" | "delete" | null>(null);
	if (!mayAdmin) return null;
	const { id, status } = exception;
	const mayEnd = status === "IN_FORCE";
	const mayDelete =
		status !== "IN_FORCE" && !(status === "ENDED" && exception.decided_by);
	return (
		<>
			{mayEnd && (
				<Button variant="default" onClick={() => setAsked("end")}>
					End it now …
				</Button>
			)}
			{mayDelete && (
				<Button variant="default" onClick={() => setAsked("delete")}>
					Delete …
				</Button>
			)}
			<Confirm
				opened={asked === "end"}
				onClose={() => setAsked(null)}
				title="End the exception now?"
				action="End it"
				onConfirm={async () => {
					await call("updateDeviceException", {
						id,
						ends_at: new Date().toISOString(),
					});
					await forgetReadings();
				}}
			>
				Its devices have to pass the check again. The exception stays in the
				list. This cannot be undone.
			</Confirm>
			<Confirm
				opened={asked === "delete"}
				onClose={() => setAsked(null)}
				title="Delete the exception?"
				action="Delete it"
				onConfirm={async () => {
					await call("deleteDeviceException", { id });
					await navigate({
						to: "/o/$org/devices/exceptions",
						params: { org: organizationId },
						ignoreBlocker: true,
					});
					await forgetReadings();
				}}
			>
				It has excused no device. This cannot be undone.
			</Confirm>
		</>
	);
}

function Covered({ found }: { found: Found }) {
	const { organizationId } = useOrganization();
	if (found.covered.length === 0) {
		return <Text size="sm">It has excused no failing device.</Text>;
	}
	const names = namesApart(
		found.covered.map(({ device_id: id, device_name: name }) => ({ id, name })),
	);
	return (
		<CardTable
			label="Covered devices"
			minWidth={480}
			columns={["Device", "Reported", "From", "Until"]}
			rows={found.covered.map((row) => ({
				key: `${row.device_id} ${row.from}`,
				cells: [
					<TextLink
						key="device"
						to="/o/$org/devices/$id"
						params={{ org: organizationId, id: row.device_id }}
						size="sm"
					>
						{names.get(row.device_id)}
					</TextLink>,
					row.status === "FAIL" ? "Fail" : "Unknown",
					<DateTime key="from" value={row.from} />,
					row.until ? <DateTime key="until" value={row.until} /> : "now",
				],
			}))}
		/>
	);
}
