import { Button } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import type { ListControls } from "../list-search.ts";
import { keepList } from "../remembered-lists.ts";
import { ColumnMenu } from "./column-menu.tsx";
import { type Column, DataTable } from "./data-table.tsx";
import { EmptyState } from "./empty-state.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { MoreMenu } from "./more-menu.tsx";
import { PageHeader } from "./page-header.tsx";
import { RowsSkeleton } from "./page-skeleton.tsx";
import { ListError, type ListedPage, Pager } from "./pager.tsx";
import { SavedViews } from "./saved-views.tsx";
import type { Selection } from "./selection.ts";

interface Props<Row extends { id: string }> {
	/** The kind of the rows. It also names the list of the saved views. */
	kind: string;
	list: ListControls;
	title: string;
	/** The name of several rows, such as "risks". */
	nouns: string;
	page: UseQueryResult<ListedPage>;
	rows: readonly Row[];
	/** The columns that the list shows now. */
	columns: readonly Column<Row>[];
	/** All columns that the list can show, the first one being the name. */
	possible: readonly { id: string; label: string }[];
	/** The chosen rows. Without it, rows cannot be chosen. */
	selection: Selection<Row> | undefined;
	description: ReactNode;
	/** The button that exports the list. */
	exportButton: ReactNode;
	/** Items of the menu "Actions", or nothing. */
	more: ReactNode;
	/** The button that adds a record, if the reader may add one. */
	add: ReactNode;
	/** Content between the heading and the filters. */
	above?: ReactNode;
	filters: ReactNode;
	/** Content below the filters. */
	below?: ReactNode;
	/** The actions on the chosen rows. */
	bulk: ReactNode;
	/** Shown if no record matches the words of the search. */
	similar?: ReactNode;
	/** Shown if there are no records at all. */
	nothing: ReactNode;
}

/**
 * The page of a list, for registers and devices alike. From top to bottom:
 *
 *     heading                        Views · Export · Actions · New
 *     above (the strip of checks)
 *     search · filters · columns · clear
 *     below
 *     rows, or why there are none
 *     actions on the chosen rows
 *     how many there are · pages
 */
export function ListPage<Row extends { id: string }>(props: Props<Row>) {
	const { list, page, rows, title, nouns, selection } = props;
	const isEmpty = page.isSuccess && rows.length === 0;
	const isFiltered = list.hasFilters || list.search.cursor !== undefined;
	const hasNone = isEmpty && !isFiltered;
	useEffect(() => keepList(list));
	return (
		<>
			<PageHeader
				title={title}
				isWide
				description={props.description}
				actions={
					<>
						<SavedViews listName={props.kind} list={list} />
						{props.exportButton}
						{props.more && <MoreMenu>{props.more}</MoreMenu>}
						{/* An empty list has the button below. */}
						{!hasNone && props.add}
					</>
				}
			/>
			{!hasNone && (
				<>
					{props.above}
					<FilterBar list={list} label={`Search ${nouns}`}>
						{props.filters}
						<ColumnMenu
							list={list}
							possible={props.possible}
							shown={props.columns.map(({ id }) => id)}
						/>
					</FilterBar>
					{props.below}
				</>
			)}
			{page.isPending && <RowsSkeleton />}
			{page.isError && (
				<ListError error={page.error} onRetry={page.refetch} list={list} />
			)}
			{hasNone && props.nothing}
			{isEmpty && isFiltered && (
				<EmptyState
					title={`No ${nouns} match`}
					actions={
						<Button variant="default" onClick={() => list.clearFilters()}>
							Show all {nouns}
						</Button>
					}
				>
					Use fewer words or remove a filter.
					{props.similar}
				</EmptyState>
			)}
			{rows.length > 0 && (
				<DataTable
					label={title}
					columns={props.columns}
					rows={rows}
					list={list}
					selection={selection}
					isStale={page.isPlaceholderData}
				/>
			)}
			{selection && props.bulk}
			{page.isSuccess && rows.length > 0 && (
				<Pager list={list} page={page.data} shown={rows.length} />
			)}
		</>
	);
}
