-- A token goes round in a ring of 503 threads; see ring.scm.
import Control.Concurrent
import Control.Monad
import System.Environment

size :: Int
size = 503

memberOfRing :: MVar Int -> Int -> MVar Int -> MVar Int -> IO ()
memberOfRing winner number from to = loop
  where
    loop = do
      token <- takeMVar from
      if token == 0
        then putMVar winner number
        else putMVar to (token - 1) >> loop

main :: IO ()
main = do
  arguments <- getArgs
  let hops = case arguments of { (n : _) -> read n; [] -> 1000 }
  winner <- newEmptyMVar
  places <- replicateM size newEmptyMVar
  let links = zip3 [1 ..] places (tail places ++ [head places])
  forM_ links $ \(number, from, to) -> forkIO (memberOfRing winner number from to)
  putMVar (head places) hops
  takeMVar winner >>= print
