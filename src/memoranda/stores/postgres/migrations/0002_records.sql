-- What belongs to no store: keys of the server, and which tool calls it has begun. No row-level
-- security: a key is looked up before anybody knows for which workspace it is.
CREATE TABLE memoranda.record(
  kind text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text NOT NULL,
  revision bigint NOT NULL,
  PRIMARY KEY(kind, key)
);
