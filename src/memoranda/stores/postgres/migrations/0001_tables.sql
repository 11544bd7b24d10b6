-- Every table of Memoranda in PostgreSQL; docs/formats/postgres.md says what each column means.
-- Runs in one transaction under the advisory lock of migrate.py. Times are nanoseconds since 1970.

CREATE TABLE memoranda.store(
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  workspace text COLLATE "C" NOT NULL,
  user_name text COLLATE "C",
  about text NOT NULL,
  secret bytea NOT NULL,
  created bigint NOT NULL,
  updated bigint NOT NULL,
  archived bigint
);
CREATE UNIQUE INDEX store_user ON memoranda.store(workspace, user_name)
  WHERE user_name IS NOT NULL;
CREATE INDEX store_newest ON memoranda.store(workspace, created DESC, id);

CREATE TABLE memoranda.store_audit(
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  actor text NOT NULL,
  command text NOT NULL,
  trace text,
  workspace text COLLATE "C" NOT NULL,
  store text COLLATE "C" NOT NULL,
  audit text
);

CREATE TABLE memoranda.state(
  store bigint PRIMARY KEY,
  seq bigint NOT NULL DEFAULT 0,
  at bigint NOT NULL DEFAULT 0,
  chain bytea NOT NULL,
  files bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  versions bigint NOT NULL DEFAULT 0,
  history bigint NOT NULL DEFAULT 0,
  horizon bigint NOT NULL DEFAULT 0,
  swept bigint NOT NULL DEFAULT 0,
  archived boolean NOT NULL DEFAULT false
) PARTITION BY HASH(store);

CREATE TABLE memoranda.memory(
  store bigint NOT NULL,
  id bigint NOT NULL,
  path text COLLATE "C",
  created bigint NOT NULL,
  updated bigint NOT NULL,
  used bigint,
  head bigint NOT NULL,
  size bigint,
  sha bytea,
  body bigint,
  PRIMARY KEY(store, id),
  UNIQUE(store, path)
) PARTITION BY HASH(store);

CREATE TABLE memoranda.event(
  store bigint NOT NULL,
  seq bigint NOT NULL,
  batch bigint NOT NULL,
  memory bigint,
  op smallint,
  path text COLLATE "C",
  at bigint NOT NULL,
  actor text NOT NULL,
  command text NOT NULL,
  trace text,
  size bigint,
  sha bytea,
  body bigint,
  audit text,
  chain bytea NOT NULL,
  link bytea,
  digest bytea,
  redacted_at bigint,
  redacted_by text,
  token bytea,
  PRIMARY KEY(store, seq)
) PARTITION BY HASH(store);
CREATE INDEX event_memory ON memoranda.event(store, memory, seq) WHERE memory IS NOT NULL;
CREATE INDEX event_path ON memoranda.event(store, path) WHERE path IS NOT NULL;

CREATE TABLE memoranda.content(
  store bigint NOT NULL,
  number bigint NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY(store, number)
) PARTITION BY HASH(store);

DO $$
BEGIN
  FOR n IN 0..15 LOOP
    -- Half of the page is left for newer versions of the row: a write stays on its page.
    EXECUTE format('CREATE TABLE memoranda.state_%s PARTITION OF memoranda.state'
      ' FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor = 50)', n, n);
    EXECUTE format('CREATE TABLE memoranda.memory_%s PARTITION OF memoranda.memory'
      ' FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor = 80)', n, n);
    EXECUTE format('CREATE TABLE memoranda.event_%s PARTITION OF memoranda.event'
      ' FOR VALUES WITH (MODULUS 16, REMAINDER %s)', n, n);
    EXECUTE format('CREATE TABLE memoranda.content_%s PARTITION OF memoranda.content'
      ' FOR VALUES WITH (MODULUS 16, REMAINDER %s)', n, n);
  END LOOP;
END $$;

-- The second wall. A transaction says which store and which workspace it is for; one that says
-- nothing sees nothing. FORCE: the owner of the tables is held back, too.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['state', 'memory', 'event', 'content'] LOOP
    EXECUTE format('ALTER TABLE memoranda.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE memoranda.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY one_store ON memoranda.%I'
      ' USING (store = nullif(current_setting(''memoranda.store'', true), '''')::bigint)', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['store', 'store_audit'] LOOP
    EXECUTE format('ALTER TABLE memoranda.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE memoranda.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY one_workspace ON memoranda.%I'
      ' USING (workspace = nullif(current_setting(''memoranda.workspace'', true), ''''))', name);
  END LOOP;
END $$;

-- What happens all the time is one call, and so one round trip: the function names the store to
-- the second wall, then works. Plans stay with the session's backend, which needs no prepared
-- statement of the client's and so works behind a pooler.

CREATE FUNCTION memoranda.find_store(p_workspace text, p_user text, p_id text)
RETURNS TABLE(number bigint, id text, secret bytea)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  PERFORM set_config('memoranda.workspace', p_workspace, true);
  IF p_user IS NOT NULL THEN
    RETURN QUERY SELECT s.number, s.id, s.secret FROM memoranda.store s
      WHERE s.workspace = p_workspace AND s.user_name = p_user;
  ELSE
    RETURN QUERY SELECT s.number, s.id, s.secret FROM memoranda.store s
      WHERE s.workspace = p_workspace AND s.id = p_id;
  END IF;
END $$;

-- A new store, or the one that its user got from somebody faster.
CREATE FUNCTION memoranda.make_store(
  p_id text, p_workspace text, p_user text, p_about text, p_secret bytea, p_at bigint)
RETURNS TABLE(number bigint, id text, secret bytea)
LANGUAGE plpgsql
AS $$
DECLARE
  made bigint;
BEGIN
  PERFORM set_config('memoranda.workspace', p_workspace, true);
  INSERT INTO memoranda.store AS s(id, workspace, user_name, about, secret, created, updated)
    VALUES (p_id, p_workspace, p_user, p_about, p_secret, p_at, p_at)
    ON CONFLICT DO NOTHING RETURNING s.number INTO made;
  IF made IS NOT NULL THEN
    PERFORM set_config('memoranda.store', made::text, true);
    INSERT INTO memoranda.state(store, chain) VALUES (made, decode(repeat('00', 32), 'hex'));
  END IF;
  RETURN QUERY SELECT s.number, s.id, s.secret FROM memoranda.store s
    WHERE s.workspace = p_workspace
      AND CASE WHEN p_user IS NULL THEN s.id = p_id ELSE s.user_name = p_user END;
END $$;

-- kind: 1 a memory, 2 a directory, 0 nothing, -1 no such store.
CREATE FUNCTION memoranda.read_memory(
  p_store bigint, p_path text, p_start integer, p_length integer)
RETURNS TABLE(kind integer, size bigint, body bigint, data bytea)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  PERFORM set_config('memoranda.store', p_store::text, true);
  RETURN QUERY SELECT 1, m.size, m.body,
      CASE WHEN p_start = 0 AND p_length IS NULL THEN c.data
           WHEN p_length IS NULL THEN substring(c.data FROM p_start + 1)
           ELSE substring(c.data FROM p_start + 1 FOR p_length) END
    FROM memoranda.memory m
    LEFT JOIN memoranda.content c ON c.store = p_store AND c.number = m.body
    WHERE m.store = p_store AND m.path = p_path;
  IF NOT FOUND THEN
    RETURN QUERY SELECT CASE
        WHEN NOT EXISTS (SELECT FROM memoranda.state s WHERE s.store = p_store) THEN -1
        WHEN EXISTS (SELECT FROM memoranda.memory m WHERE m.store = p_store
          AND m.path > p_path || '/' AND m.path < p_path || '0') THEN 2
        ELSE 0 END, NULL::bigint, NULL::bigint, NULL::bytea;
  END IF;
END $$;

-- What a view of a directory shows: how many memories lie beneath, how many bytes of them are
-- visible, how many visible items there are on two levels, and those items in order, as far as
-- p_chars printed characters reach (each one's line is p_beside characters longer).
CREATE FUNCTION memoranda.outline(
  p_store bigint, p_directory text, p_beside integer, p_chars integer)
RETURNS TABLE(beneath bigint, shown numeric, total bigint, item text, size numeric)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  PERFORM set_config('memoranda.store', p_store::text, true);
  RETURN QUERY
    WITH below AS (
      SELECT split_part(r.rest, '/', 1) AS first, split_part(r.rest, '/', 2) AS second,
        split_part(r.rest, '/', 3) <> '' AS is_deep,
        CASE WHEN r.rest ~ '(^|/)(\.|node_modules(/|$))' THEN 0 ELSE m.size END AS visible
      FROM memoranda.memory m,
        LATERAL (SELECT substr(m.path, char_length(p_directory) + 2) AS rest) r
      WHERE m.store = p_store AND m.path > p_directory || '/' AND m.path < p_directory || '0'
    ), items AS (
      SELECT b.first || CASE WHEN b.second = '' THEN '' ELSE '/' END AS name, sum(b.visible) AS size
        FROM below b WHERE b.first !~ '^(\.|node_modules$)' GROUP BY 1
      UNION ALL
      SELECT b.first || '/' || b.second || CASE WHEN b.is_deep THEN '/' ELSE '' END, sum(b.visible)
        FROM below b WHERE b.second <> '' AND b.first !~ '^(\.|node_modules$)'
          AND b.second !~ '^(\.|node_modules$)' GROUP BY 1
    ), ordered AS (
      SELECT i.name, i.size, coalesce(
          sum(char_length(i.name) + p_beside) OVER (
            ORDER BY i.name COLLATE "C" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0
        ) AS printed
      FROM items i
    ), whole AS (SELECT count(*) AS n, coalesce(sum(b.visible), 0) AS visible FROM below b)
    SELECT w.n, w.visible, (SELECT count(*) FROM items), o.name, o.size
      FROM whole w LEFT JOIN ordered o ON o.printed < p_chars ORDER BY o.name COLLATE "C";
END $$;

-- What the planning of a batch has to know, of one moment: the store's state with each row, the
-- memories at some paths (exact), beneath some (beneath), with some ids, and how many there are
-- beneath some (counted). Contents come for the paths in edits and for the ids.
CREATE FUNCTION memoranda.look(
  p_store bigint, p_lock boolean, p_exact text[], p_edits text[], p_beneath text[],
  p_counted text[], p_ids bigint[])
RETURNS TABLE(
  seq bigint, at bigint, chain bytea, files bigint, bytes bigint, archived boolean,
  counts bigint[],
  id bigint, path text, created bigint, updated bigint, head bigint, size bigint, sha bytea,
  body bigint, data bytea)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  PERFORM set_config('memoranda.store', p_store::text, true);
  IF p_lock THEN
    PERFORM FROM memoranda.state s WHERE s.store = p_store FOR UPDATE;
  END IF;
  RETURN QUERY
    SELECT s.seq, s.at, s.chain, s.files, s.bytes, s.archived,
      ARRAY(SELECT (SELECT count(*) FROM memoranda.memory n WHERE n.store = p_store
              AND n.path > p.at_path || '/' AND n.path < p.at_path || '0')
            FROM unnest(p_counted) WITH ORDINALITY p(at_path, place) ORDER BY p.place),
      m.id, m.path, m.created, m.updated, m.head, m.size, m.sha, m.body, m.data
    FROM memoranda.state s
    LEFT JOIN LATERAL (
      SELECT n.*, CASE WHEN n.path = ANY(p_edits) THEN
          (SELECT c.data FROM memoranda.content c WHERE c.store = p_store AND c.number = n.body)
          END AS data
        FROM memoranda.memory n WHERE n.store = p_store AND n.path = ANY(p_exact)
      UNION ALL
      SELECT n.*, (SELECT c.data FROM memoranda.content c
          WHERE c.store = p_store AND c.number = n.body)
        FROM memoranda.memory n WHERE n.store = p_store AND n.id = ANY(p_ids)
      UNION ALL
      SELECT n.*, NULL FROM unnest(p_beneath) b(at_path) JOIN memoranda.memory n
        ON n.store = p_store AND n.path > b.at_path || '/' AND n.path < b.at_path || '0'
    ) m ON true
    WHERE s.store = p_store;
END $$;

-- One batch, planned on the state right after event p_seq. Gives 0: done; -1: the store has moved
-- on, plan anew; -2: no such store; else this very batch (its token) was done before, by a try
-- whose answer got lost, and this is its first event.
CREATE FUNCTION memoranda.write(
  p_store bigint, p_seq bigint, p_archived boolean, p_token bytea, p_tried bigint[],
  p_state json, p_events json, p_vacated bigint[], p_memories json, p_used json,
  p_contents bytea[], p_absent text[], p_empty text[])
RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  done bigint;
BEGIN
  PERFORM set_config('memoranda.store', p_store::text, true);
  -- A plan that was made without looking took some paths for free. Looked at before the state is
  -- locked, and yet in time: if the state is the one that was planned on, nothing came between.
  IF cardinality(p_absent) > 0 AND (
      EXISTS (SELECT FROM memoranda.memory m WHERE m.store = p_store AND m.path = ANY(p_absent))
      OR EXISTS (SELECT FROM unnest(p_empty) e(at_path) JOIN memoranda.memory m
        ON m.store = p_store AND m.path > e.at_path || '/' AND m.path < e.at_path || '0')) THEN
    RETURN -1;
  END IF;
  UPDATE memoranda.state s SET
      seq = (p_state->>'seq')::bigint, at = (p_state->>'at')::bigint,
      chain = decode(p_state->>'chain', 'hex'), files = (p_state->>'files')::bigint,
      bytes = (p_state->>'bytes')::bigint,
      -- What retention takes away meanwhile moves no event: these two are differences.
      versions = s.versions + (p_state->>'versions')::bigint,
      history = s.history + (p_state->>'history')::bigint
    WHERE s.store = p_store AND s.seq = p_seq AND s.archived = p_archived;
  IF NOT FOUND THEN
    SELECT e.seq INTO done FROM memoranda.event e
      WHERE e.store = p_store AND e.seq = ANY(p_tried) AND e.token = p_token;
    RETURN CASE WHEN done IS NOT NULL THEN done
      WHEN EXISTS (SELECT FROM memoranda.state s WHERE s.store = p_store) THEN -1
      ELSE -2 END;
  END IF;
  INSERT INTO memoranda.event(store, seq, batch, memory, op, path, at, actor, command, trace,
      size, sha, body, audit, chain, token)
    SELECT p_store, e.seq, e.batch, e.memory, e.op, e.path, e.at, e.actor, e.command, e.trace,
      e.size, decode(e.sha, 'hex'), e.body, e.audit, decode(e.chain, 'hex'),
      CASE WHEN e.seq = p_seq + 1 THEN p_token END
    FROM json_to_recordset(p_events) AS e(seq bigint, batch bigint, memory bigint, op smallint,
      path text, at bigint, actor text, command text, trace text, size bigint, sha text,
      body bigint, audit text, chain text);
  IF cardinality(p_contents) > 0 THEN
    INSERT INTO memoranda.content(store, number, data)
      SELECT p_store, e.body, p_contents[e.data]
      FROM json_to_recordset(p_events) AS e(body bigint, data integer) WHERE e.data IS NOT NULL;
  END IF;
  -- Two memories that swap places never are at one place at once.
  IF cardinality(p_vacated) > 0 THEN
    UPDATE memoranda.memory m SET path = NULL WHERE m.store = p_store AND m.id = ANY(p_vacated);
  END IF;
  INSERT INTO memoranda.memory AS m(store, id, path, created, updated, head, size, sha, body)
    SELECT p_store, n.id, n.path, n.created, n.updated, n.head, n.size, decode(n.sha, 'hex'),
      n.body
    FROM json_to_recordset(p_memories) AS n(id bigint, path text, created bigint, updated bigint,
      head bigint, size bigint, sha text, body bigint)
    ON CONFLICT (store, id) DO UPDATE SET path = excluded.path, created = excluded.created,
      updated = excluded.updated, head = excluded.head, size = excluded.size,
      sha = excluded.sha, body = excluded.body;
  IF p_used IS NOT NULL THEN
    UPDATE memoranda.memory m SET used = (u.value)::bigint
      FROM json_each_text(p_used) u WHERE m.store = p_store AND m.path = u.key;
  END IF;
  RETURN 0;
END $$;

-- Lets old history go: audit entries, versions of live memories beyond the newest p_keep, removed
-- memories; only what is older than p_cutoff, whatever its age while history takes more than
-- p_budget. Looks at no more than p_most events after where it stopped last, and at the memories
-- that changed lately. An event that goes leaves its chain value with the one that follows.
-- Gives how many events went.
CREATE FUNCTION memoranda.thin(
  p_store bigint, p_cutoff bigint, p_keep integer, p_budget bigint, p_most integer)
RETURNS integer
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
  freed bigint;
BEGIN
  PERFORM set_config('memoranda.store', p_store::text, true);
  SELECT * INTO s FROM memoranda.state t WHERE t.store = p_store FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 0;
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
  RETURN cardinality(old);
END $$;
