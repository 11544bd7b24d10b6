-- The audit can be read and checked: whatever goes is said in an entry, and holds lie with the state.
ALTER TABLE memoranda.state ADD COLUMN holds text;

-- Who owns the schema may list the workspaces once it says that this is what it wants. The policy is
-- the owner's alone: an application that says so sees nothing, its queries don't even meet it.
CREATE POLICY operator_lists ON memoranda.store FOR SELECT TO CURRENT_USER
  USING (current_setting('memoranda.operator', true) = 'workspaces');

-- An application that is older than this step would let history go without saying so: it lets none go.
CREATE OR REPLACE FUNCTION memoranda.thin(
  p_store bigint, p_cutoff bigint, p_keep integer, p_budget bigint, p_most integer)
RETURNS integer
LANGUAGE sql
AS 'SELECT 0';

-- Lets old history go: audit entries, versions of live memories beyond the newest p_keep, removed
-- memories; only what is older than p_cutoff, whatever its age while history takes more than
-- p_budget. Looks at no more than p_most events after where it stopped last, and at the memories
-- that changed lately. An event that goes leaves its chain value with the one that follows.
-- Of what is held (p_held: paths, each with all beneath) nothing goes. Gives where something went
-- (the numbers of the neighbours that stay, 0 at the beginning), and what entries that went said of
-- others: the caller writes an entry that says both, in the same transaction.
CREATE FUNCTION memoranda.let_go(
  p_store bigint, p_cutoff bigint, p_keep integer, p_budget bigint, p_most integer, p_held text[])
RETURNS TABLE(gap_start bigint, gap_end bigint, said text)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  s memoranda.state;
  cut bigint;
  looked bigint;
  old bigint[];
  memories bigint[];
  bodies bigint[];
  lost bigint;
  n_versions integer;
  sayings text[];
  freed bigint;
BEGIN
  PERFORM set_config('memoranda.store', p_store::text, true);
  SELECT * INTO s FROM memoranda.state t WHERE t.store = p_store FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  cut := CASE WHEN s.history > p_budget THEN s.at + 1 ELSE p_cutoff END;
  SELECT coalesce(max(w.seq), s.swept) INTO looked FROM (
    SELECT e.seq FROM memoranda.event e
      WHERE e.store = p_store AND e.seq > s.swept AND e.seq < s.seq AND e.at < cut
      ORDER BY e.seq LIMIT p_most) w;
  old := ARRAY(
    SELECT e.seq FROM memoranda.event e
      WHERE e.store = p_store AND e.seq > s.swept AND e.seq <= looked AND e.memory IS NULL
    UNION
    SELECT v.seq FROM (
        SELECT DISTINCT e.memory AS id FROM memoranda.event e
          WHERE e.store = p_store AND e.memory IS NOT NULL
            AND (e.seq > s.swept AND e.seq <= looked OR e.seq > s.seq - 64)) c
      JOIN memoranda.memory m ON m.store = p_store AND m.id = c.id AND m.path IS NOT NULL
        AND NOT EXISTS (SELECT FROM unnest(p_held) h(held)
          WHERE m.path = h.held OR starts_with(m.path, h.held || '/'))
      CROSS JOIN LATERAL (
        SELECT e.seq, e.at FROM memoranda.event e
          WHERE e.store = p_store AND e.memory = m.id
          ORDER BY e.seq DESC OFFSET greatest(p_keep, 1)) v
      WHERE v.at < cut AND v.seq < s.seq
    UNION
    SELECT v.seq FROM (
        SELECT DISTINCT e.memory AS id FROM memoranda.event e
          WHERE e.store = p_store AND e.memory IS NOT NULL
            AND e.seq > s.swept AND e.seq <= looked) c
      JOIN memoranda.memory m ON m.store = p_store AND m.id = c.id AND m.path IS NULL
      JOIN memoranda.event r ON r.store = p_store AND r.seq = m.head
        AND r.at < cut AND r.seq < s.seq
        AND NOT EXISTS (SELECT FROM unnest(p_held) h(held)
          WHERE r.path = h.held OR starts_with(r.path, h.held || '/'))
      JOIN memoranda.event v ON v.store = p_store AND v.memory = m.id);
  IF cardinality(old) > 0 THEN
    -- States before this one are not whole any more.
    SELECT max(coalesce((SELECT min(f.seq) FROM memoranda.event f
        WHERE f.store = p_store AND f.memory = e.memory AND f.seq > e.seq), e.seq))
      INTO lost FROM memoranda.event e
      WHERE e.store = p_store AND e.seq = ANY(old) AND e.memory IS NOT NULL;
    UPDATE memoranda.event f SET link = d.chain
      FROM memoranda.event d
      WHERE d.store = p_store AND d.seq = ANY(old) AND f.store = p_store AND f.link IS NULL
        AND NOT f.seq = ANY(old) AND f.seq = (SELECT min(g.seq) FROM memoranda.event g
          WHERE g.store = p_store AND g.seq > d.seq);
    sayings := ARRAY(SELECT e.audit FROM memoranda.event e
      WHERE e.store = p_store AND e.seq = ANY(old) AND e.memory IS NULL
        AND (e.audit LIKE '%"dropped"%' OR e.audit LIKE '%"blanked"%') ORDER BY e.seq);
    WITH gone AS (
      DELETE FROM memoranda.event e WHERE e.store = p_store AND e.seq = ANY(old)
        RETURNING e.memory, e.body)
    SELECT count(g.memory), array_agg(g.memory), array_agg(g.body)
      INTO n_versions, memories, bodies FROM gone g;
    -- A content goes with the last version that has it; a move's has that of the one before.
    WITH gone AS (
      DELETE FROM memoranda.content c
        USING (SELECT DISTINCT * FROM unnest(memories, bodies) u(memory, body)) g
        WHERE c.store = p_store AND c.number = g.body AND NOT EXISTS (
          SELECT FROM memoranda.event e
            WHERE e.store = p_store AND e.memory = g.memory AND e.body = g.body)
        RETURNING length(c.data) AS size)
    SELECT coalesce(sum(d.size), 0) INTO freed FROM gone d;
    DELETE FROM memoranda.memory m WHERE m.store = p_store AND m.path IS NULL
      AND m.id = ANY(memories) AND NOT EXISTS (SELECT FROM memoranda.event e
        WHERE e.store = p_store AND e.memory = m.id);
  END IF;
  UPDATE memoranda.state t SET swept = looked,
      horizon = greatest(t.horizon, coalesce(lost, 0)),
      versions = t.versions - coalesce(n_versions, 0),
      history = t.history - coalesce(freed, 0) - 200 * cardinality(old)
    WHERE t.store = p_store;
  RETURN QUERY
    SELECT DISTINCT
      coalesce((SELECT max(k.seq) FROM memoranda.event k WHERE k.store = p_store AND k.seq < g.seq), 0),
      (SELECT min(k.seq) FROM memoranda.event k WHERE k.store = p_store AND k.seq > g.seq),
      NULL::text
    FROM unnest(old) g(seq)
    UNION ALL
    SELECT NULL, NULL, t.said FROM unnest(sayings) t(said);
END $$;
