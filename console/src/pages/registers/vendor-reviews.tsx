import {
	Button,
	Group,
	MultiSelect,
	Paper,
	Select,
	Stack,
	Text,
	Textarea,
	TextInput,
	Title,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { MAX_PAGE_SIZE } from "../../../../src/records/page-sizes.ts";
import { call, type OutputOf } from "../../api.ts";
import { type AnyRecord, describeKind, fieldOf } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { StatusBadge, type Tone } from "../../parts/status-badge.tsx";
import { CalendarDate } from "../../parts/time.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings, operationQuery } from "../../queries.ts";

const PAGE = 10;

type Review = OutputOf<"listVendorReviews">["vendor_reviews"][number];

const OUTCOMES: Record<Review["outcome"], { label: string; tone: Tone }> = {
	APPROVED: { label: "Approved", tone: "good" },
	APPROVED_WITH_CONDITIONS: {
		label: "Approved with conditions",
		tone: "warning",
	},
	REJECTED: { label: "Rejected", tone: "bad" },
};

const ratings = () =>
	(fieldOf(describeKind("vendor"), "risk_rating")?.choices ?? []).map(
		({ value, label }) => ({ value, label }),
	);

/** Lists the reviews of a vendor, newest first, and takes another one. */
export function VendorReviews({ vendor }: { vendor: AnyRecord }) {
	const { mayWrite } = useOrganization();
	const [isAdding, setAdding] = useState(false);
	const input = { vendor_id: vendor.id, size: PAGE };
	const list = useInfiniteQuery({
		queryKey: ["listVendorReviews", input],
		queryFn: ({ pageParam, signal }) =>
			call("listVendorReviews", { ...input, cursor: pageParam }, { signal }),
		initialPageParam: null as string | null,
		getNextPageParam: (page) => page.next_cursor,
	});
	const reviews = (list.data?.pages ?? []).flatMap(
		(page) => page.vendor_reviews,
	);
	return (
		<Paper withBorder p="lg" component="section" aria-label="Reviews">
			<Group justify="space-between" mb="md">
				<Title order={2}>Reviews</Title>
				{mayWrite && (
					<Button
						variant="default"
						leftSection={<IconPlus size={16} aria-hidden />}
						onClick={() => setAdding(true)}
					>
						Add a review
					</Button>
				)}
			</Group>
			{list.isError ? (
				<ErrorState error={list.error} onRetry={() => list.refetch()} />
			) : list.isPending ? (
				<RowsSkeleton rows={2} />
			) : reviews.length === 0 ? (
				<Text c="dimmed" size="sm">
					Nobody has reviewed this vendor yet.
				</Text>
			) : (
				<Reviews reviews={reviews} />
			)}
			{list.hasNextPage && (
				<Button
					variant="subtle"
					size="compact-sm"
					mt="sm"
					loading={list.isFetchingNextPage}
					onClick={() => list.fetchNextPage()}
				>
					Show older reviews
				</Button>
			)}
			{isAdding && (
				<AddReview vendor={vendor} onClose={() => setAdding(false)} />
			)}
		</Paper>
	);
}

function Reviews({ reviews }: { reviews: readonly Review[] }) {
	const { organizationId } = useOrganization();
	const labels = new Map(ratings().map(({ value, label }) => [value, label]));
	const columns: Column<Review>[] = [
		{
			id: "reviewed_on",
			header: "Reviewed on",
			cell: ({ reviewed_on }) => <CalendarDate value={reviewed_on} />,
		},
		{
			id: "outcome",
			header: "Outcome",
			cell: ({ outcome }) => <StatusBadge {...OUTCOMES[outcome]} />,
		},
		{
			id: "risk_rating",
			header: "Risk",
			cell: ({ risk_rating }) => labels.get(risk_rating),
		},
		{
			id: "note",
			header: "Found",
			cell: ({ note, evidence }) => (
				<Stack gap={4}>
					{note && (
						<Text size="sm" style={{ whiteSpace: "pre-wrap" }}>
							{note}
						</Text>
					)}
					{evidence.map(({ id, name }) => (
						<RecordLink
							key={id}
							organizationId={organizationId}
							kind="evidence"
							id={id}
						>
							{name}
						</RecordLink>
					))}
					{!note && evidence.length === 0 && "–"}
				</Stack>
			),
		},
		{
			id: "next_review_date",
			header: "Next review",
			cell: ({ next_review_date: next }) =>
				next ? <CalendarDate value={next} /> : "–",
		},
		{ id: "by", header: "By", cell: ({ reviewer_name }) => reviewer_name },
	];
	return <DataTable label="Reviews" columns={columns} rows={reviews} />;
}

function AddReview({
	vendor,
	onClose,
}: {
	vendor: AnyRecord;
	onClose: () => void;
}) {
	const { organizationId } = useOrganization();
	useReturnFocus();
	// The types of a list know only the search text among its filters.
	const filter = { query: undefined, linked_to: vendor.id };
	const evidence = useQuery(
		operationQuery("listEvidence", {
			organization_id: organizationId,
			filter,
			size: MAX_PAGE_SIZE,
		}),
	);
	const form = useForm({
		initialValues: {
			outcome: null as Review["outcome"] | null,
			reviewed_on: "",
			risk_rating: String(vendor.risk_rating) as Review["risk_rating"],
			note: "",
			evidence_ids: [] as string[],
			next_review_date: "",
		},
		validate: {
			outcome: (outcome) => (outcome ? null : "Choose an outcome."),
		},
	});
	const saving = useSaving(
		form,
		({ outcome, reviewed_on, note, next_review_date, ...values }) =>
			call("addVendorReview", {
				vendor_id: vendor.id,
				...values,
				outcome: outcome ?? "APPROVED",
				...(reviewed_on && { reviewed_on }),
				note: note.trim() || null,
				next_review_date: next_review_date || null,
			}),
		async () => {
			onClose();
			await forgetReadings();
		},
	);
	const offered = evidence.data?.evidence ?? [];
	return (
		<Dialog opened onClose={onClose} title="Review the vendor" size="lg">
			<form noValidate onSubmit={saving.submit}>
				<Stack gap="sm">
					{saving.refusal && (
						<ErrorState error={saving.refusal} title="Not added" />
					)}
					<Select
						label="Outcome"
						withAsterisk
						data-autofocus
						data={Object.entries(OUTCOMES).map(([value, { label }]) => ({
							value,
							label,
						}))}
						{...form.getInputProps("outcome")}
					/>
					<Select
						label="Risk to the organization"
						allowDeselect={false}
						data={ratings()}
						{...form.getInputProps("risk_rating")}
					/>
					<Textarea
						label="What was looked at and found"
						autosize
						minRows={3}
						maxRows={10}
						{...form.getInputProps("note")}
					/>
					<MultiSelect
						label="Evidence"
						description={
							evidence.isSuccess && offered.length === 0
								? "Attach evidence to the vendor first, and choose it here."
								: "What the review relies on, from the evidence of this vendor."
						}
						searchable
						clearable
						maxValues={20}
						disabled={offered.length === 0}
						data={offered.map(({ id, name }) => ({ value: id, label: name }))}
						{...form.getInputProps("evidence_ids")}
					/>
					<Group grow align="flex-start">
						<TextInput
							label="Reviewed on"
							description="Empty: today"
							type="date"
							{...form.getInputProps("reviewed_on")}
						/>
						<TextInput
							label="Next review"
							description="Empty: none is planned"
							type="date"
							{...form.getInputProps("next_review_date")}
						/>
					</Group>
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button type="submit" loading={saving.isSaving}>
							Add the review
						</Button>
					</Group>
				</Stack>
			</form>
		</Dialog>
	);
}
