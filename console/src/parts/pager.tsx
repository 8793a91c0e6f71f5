import { Button, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";
import { DEFAULT_PAGE_SIZE } from "../../../src/records/page-sizes.ts";
import { ApiError } from "../api.ts";
import { type ListControls, SIZES } from "../list-search.ts";
import { ErrorState } from "./error-state.tsx";

/** The part of a list's result that describes the page. */
export interface ListedPage {
	next_cursor: string | null;
	/** The number of rows that match the filters. */
	total: number;
	/** False if more rows match than the server counts. */
	total_is_exact: boolean;
}

/**
 * The controls below a list: the rows that are shown and how many there are, the page size, and the
 * previous and the next page. The controls are hidden if the list fits on one page.
 */
export function Pager({
	list,
	page,
	shown,
}: {
	list: ListControls;
	page: ListedPage;
	/** The number of rows on this page. */
	shown: number;
}) {
	const { cursor, size = DEFAULT_PAGE_SIZE } = list.search;
	const { next_cursor: next } = page;
	const isOnePage = !next && !cursor && size === DEFAULT_PAGE_SIZE;
	return (
		<Group mt="md" gap="md" component="nav" aria-label="Pages of the list">
			<Text size="sm" c="dimmed" role="status">
				{rangeOf(list.pagesBefore, size, shown, page)}
			</Text>
			{list.order?.label && (
				<Text size="sm" c="dimmed">
					{list.order.label}
				</Text>
			)}
			{!isOnePage && (
				<>
					<NativeSelect
						aria-label="Rows per page"
						data={SIZES.map((count) => ({
							value: String(count),
							label: `${count} per page`,
						}))}
						value={String(size)}
						onChange={({ currentTarget }) =>
							list.setSize(Number(currentTarget.value))
						}
					/>
					<Group gap="sm" ml="auto">
						{cursor && list.pagesBefore !== 1 && (
							<Button variant="subtle" onClick={() => list.first()}>
								First page
							</Button>
						)}
						<Button
							variant="default"
							disabled={!list.pagesBefore}
							leftSection={<IconChevronLeft size={16} aria-hidden />}
							onClick={() => list.previous()}
						>
							Previous page
						</Button>
						<Button
							variant="default"
							disabled={!next}
							rightSection={<IconChevronRight size={16} aria-hidden />}
							onClick={() => next && list.next(next)}
						>
							Next page
						</Button>
					</Group>
				</>
			)}
		</Group>
	);
}

/** Says which rows the page shows, such as "21–40 of 2,000". */
function rangeOf(
	pagesBefore: number | undefined,
	size: number,
	shown: number,
	{ total, total_is_exact }: ListedPage,
): string {
	const all = total_is_exact
		? total.toLocaleString()
		: `more than ${total.toLocaleString()}`;
	if (pagesBefore === undefined) return `${shown} of ${all}`;
	const first = pagesBefore * size + 1;
	return `${first.toLocaleString()}–${(first + shown - 1).toLocaleString()} of ${all}`;
}

/**
 * Shows why a page of the list could not be loaded. The ways to the first page and to the whole list
 * help a reader whose address is wrong.
 */
export function ListError({
	error,
	onRetry,
	list,
}: {
	error: unknown;
	onRetry: () => unknown;
	list: ListControls;
}) {
	return (
		<Stack align="flex-start">
			<ErrorState error={error} onRetry={onRetry} />
			{list.search.cursor && (
				<Button variant="default" onClick={() => list.first()}>
					First page
				</Button>
			)}
			{list.hasFilters && error instanceof ApiError && error.status === 400 && (
				<Button variant="default" onClick={() => list.clearFilters()}>
					Show the list without filters
				</Button>
			)}
		</Stack>
	);
}
